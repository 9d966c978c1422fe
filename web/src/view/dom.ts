// Makes elements: tag, properties, children. Text is always text, never markup.

type Child = Node | string | null;

/** An element of `tag` with properties set and children appended. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<Omit<HTMLElementTagNameMap[Tag], "style">> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** A button with a name for those who don't see its sign. */
export function button(label: string, title: string, onclick: () => void, className = ""): HTMLButtonElement {
  const made = el("button", { type: "button", textContent: label, title, className, onclick });
  made.setAttribute("aria-label", title);
  return made;
}
