// JSON of inputs that many subscriptions share: a catalog of many kilobytes is one object for all subscriptions that
// are read together, and is serialized once. Pure.

const texts = new WeakMap<object, string>()

/**
 * The same text as JSON.stringify gives. The members must not change afterwards: the text of each is cached with it.
 */
export function jsonOfMembers(of: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(of).flatMap(([name, value]) => {
    const text = textOf(value)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join(',')}}`
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const text = texts.get(value) ?? JSON.stringify(value)
  texts.set(value, text)
  return text
}
