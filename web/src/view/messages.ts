// Sentences that need attention: failures with what can be done, and warnings. Each can be put away.

import { button, el } from "./dom.ts";

/** Something to be said. */
export interface Message {
  readonly text: string;
  readonly kind: "error" | "warning" | "note";
  /** Messages of one topic replace each other. */
  readonly topic: string;
  readonly action?: { readonly label: string; run(): void };
}

const MESSAGE_COUNT_MAX = 6;

/** The list of messages. */
export class Messages {
  readonly element = el("div", { className: "messages" });
  #messages: Message[] = [];

  constructor() {
    this.element.setAttribute("role", "status");
  }

  say(message: Message): void {
    this.#messages = this.#messages.filter((old) => old.topic !== message.topic);
    this.#messages.push(message);
    this.#show();
  }

  /** Takes back what was said on a topic, or on every topic that begins so. */
  clear(topic: string): void {
    const kept = this.#messages.filter((old) => !old.topic.startsWith(topic));
    if (kept.length === this.#messages.length) return;
    this.#messages = kept;
    this.#show();
  }

  #show(): void {
    const hidden = this.#messages.length - MESSAGE_COUNT_MAX;
    const lines = this.#messages.slice(0, MESSAGE_COUNT_MAX).map((message) => this.#line(message));
    if (hidden > 0) lines.push(el("div", { className: "message note", textContent: `and ${hidden} more` }));
    this.element.replaceChildren(...lines);
  }

  #line(message: Message): HTMLElement {
    const { action } = message;
    return el(
      "div",
      { className: `message ${message.kind}` },
      el("span", { textContent: message.text }),
      action === undefined
        ? null
        : el("button", {
            type: "button",
            textContent: action.label,
            onclick: () => {
              this.clear(message.topic);
              action.run();
            },
          }),
      button("×", "Put away", () => this.clear(message.topic), "quiet"),
    );
  }
}
