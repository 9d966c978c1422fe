// Takes a canonical series name apart for display: `metric{tag="value",…}` or `{"metric",tag="value"}`.
//
// Total: what it can't read is shown as one metric, as it stands. Names are checked by the engine, not here.

/** A name in its parts. */
export interface NameParts {
  readonly metric: string;
  readonly tags: readonly (readonly [string, string])[];
}

const QUOTED = /"(?:[^"\\]|\\.)*"/y;
const BARE = /[^"{},=\s]+/y;

function take(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function unquote(token: string): string {
  if (!token.startsWith('"')) return token;
  return token.slice(1, -1).replace(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c));
}

/** The parts of `name`. */
export function nameParts(name: string): NameParts {
  const whole: NameParts = { metric: name, tags: [] };
  const brace = name.indexOf("{");
  if (brace < 0) return whole;
  let metric = name.slice(0, brace);
  const tags: (readonly [string, string])[] = [];
  let at = brace + 1;
  while (at < name.length && name[at] !== "}") {
    const key = take(QUOTED, name, at) ?? take(BARE, name, at);
    if (key === null) return whole;
    at += key.length;
    if (name[at] === "=") {
      const value = take(QUOTED, name, at + 1);
      if (value === null) return whole;
      at += 1 + value.length;
      tags.push([unquote(key), unquote(value)]);
    } else {
      metric = unquote(key);
    }
    if (name[at] === ",") at += 1;
    else if (name[at] !== "}") return whole;
  }
  return at === name.length - 1 ? { metric, tags } : whole;
}
