// Prefixes of document numbers may name custom fields. Only two forms are accepted; any other brace is refused, so a
// prefix can never become a general template language.

const OWNERS = ['customer', 'billing_entity'] as const
/** `{{customer.custom_fields[region]}}` is the field `region` of the customer. */
export type PrefixVariable = { readonly owner: (typeof OWNERS)[number]; readonly reference: string }
export type PrefixPart = string | PrefixVariable
export type PrefixReading =
  | { readonly kind: 'ok'; readonly parts: readonly PrefixPart[] }
  | { readonly kind: 'fault'; readonly message: string }

const PREFIX_LENGTH_MAX = 500
const VARIABLE = /\{\{(customer|billing_entity)\.custom_fields\[([^\s[\]{}]{1,255})\]\}\}/g

/** Reads a prefix; the fault says what a prefix may contain. */
export function parsePrefix(text: string): PrefixReading {
  if (text.length > PREFIX_LENGTH_MAX) {
    return { kind: 'fault', message: `A prefix has at most ${PREFIX_LENGTH_MAX} characters.` }
  }
  const parts: PrefixPart[] = []
  let read = 0
  for (const match of text.matchAll(VARIABLE)) {
    if (match.index > read) parts.push(text.slice(read, match.index))
    const owner = OWNERS.find(name => name === match[1])
    if (owner) parts.push({ owner, reference: match[2] ?? '' })
    read = match.index + match[0].length
  }
  if (read < text.length) parts.push(text.slice(read))
  const stray = parts.find(part => typeof part === 'string' && (part.includes('{') || part.includes('}')))
  if (stray === undefined) return { kind: 'ok', parts }
  const forms = OWNERS.map(owner => `{{${owner}.custom_fields[reference]}}`).join(' and ')
  return { kind: 'fault', message: `A prefix may hold text, ${forms}; found ${String(stray)}.` }
}

/** The custom fields that a prefix names; they must not be renamed or removed while it does. */
export const prefixVariables = (parts: readonly PrefixPart[]): readonly PrefixVariable[] =>
  parts.filter(part => typeof part !== 'string')
