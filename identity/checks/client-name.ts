// The name a client gives itself: what it may hold, and whether it is one that people know. Nobody verifies it. Pure.
import { OAuthError } from '../oauth-error.ts'
import { CONFUSABLES } from './confusables.ts'

const CHARACTERS_MAX = 100
const DEFAULT_NAME = 'Unnamed application'
// Control, format, bidirectional, invisible, private and unassigned characters, and line or paragraph separators.
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]|\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}/u

/** The name in NFC. Throws `invalid_client_metadata` (security 1.2, item 9). */
export function checkClientName(given: unknown): string {
  if (given === undefined) return DEFAULT_NAME
  if (typeof given !== 'string') throw fault('client_name must be a string.')
  const name = given.normalize('NFC')
  if (name.trim() === '' || [...name].length > CHARACTERS_MAX)
    throw fault(`client_name must be 1 to ${CHARACTERS_MAX} characters.`)
  if (FORBIDDEN.test(name)) throw fault('client_name holds a character that cannot be shown.')
  // On our own pages it would be taken for us.
  if (skeletonOf(name).includes(OWN_NAME)) throw fault('client_name must not look like the name of this product.')
  return name
}

const fault = (message: string): OAuthError => new OAuthError('invalid_client_metadata', message)

export type KnownClient = { readonly name: string; readonly initial: string }

/** AI clients that people know by name. Recognising one says nothing of who registered it: the page says so. */
export const KNOWN_CLIENTS: readonly KnownClient[] = [
  { name: 'Claude', initial: 'C' },
  { name: 'Claude Code', initial: 'C' },
  { name: 'ChatGPT', initial: 'G' },
  { name: 'Codex', initial: 'X' },
  { name: 'Cursor', initial: 'U' },
  { name: 'Gemini', initial: 'M' },
  { name: 'Gemini CLI', initial: 'M' },
  { name: 'GitHub Copilot', initial: 'H' },
  { name: 'Goose', initial: 'O' },
  { name: 'Le Chat', initial: 'L' },
  { name: 'Perplexity', initial: 'P' },
  { name: 'Visual Studio Code', initial: 'V' },
  { name: 'Windsurf', initial: 'W' },
  { name: 'Zed', initial: 'Z' },
]

/**
 * `known`: the very name. `contains`: the name among other words. `lookalike`: other characters that look like it, which only a
 * deceiver chooses.
 */
export type KnownClientMatch =
  | { readonly kind: 'known' | 'contains' | 'lookalike'; readonly client: KnownClient }
  | { readonly kind: 'unknown' }

const folded = (name: string): string => name.normalize('NFKC').toLowerCase().trim()

/** Whether a name is, or holds, one that people know (security 1.2, item 19). */
export function matchKnownClient(name: string): KnownClientMatch {
  const find = (is: (client: KnownClient) => boolean) => LONGEST_FIRST.find(is)
  const exact = find(client => folded(client.name) === folded(name))
  if (exact) return { kind: 'known', client: exact }
  const alike = find(client => skeletonOf(client.name) === skeletonOf(name))
  if (alike) return { kind: 'lookalike', client: alike }
  const held = find(client => holds(wordsOf(name), wordsOf(client.name)))
  if (held) return { kind: 'contains', client: held }
  const drawn = find(client => holds(wordsOf(name).map(skeletonOf), wordsOf(client.name).map(skeletonOf)))
  return drawn ? { kind: 'lookalike', client: drawn } : { kind: 'unknown' }
}

/** The name that says most comes first: Claude Code before Claude. */
const LONGEST_FIRST = KNOWN_CLIENTS.toSorted((one, other) => other.name.length - one.name.length)

/** Words, also where only a capital begins one: ClaudeDesktop. */
const wordsOf = (name: string): string[] =>
  name
    .normalize('NFKC')
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter(word => word !== '')
    .map(word => word.toLowerCase())

const holds = (words: readonly string[], part: readonly string[]): boolean =>
  ` ${words.join(' ')} `.includes(` ${part.join(' ')} `)

/** Letters that Unicode's data does not name, but that are read as these: small capitals, and letters turned round. */
const READ_AS: Readonly<Record<string, string>> = {
  ᴀ: 'a',
  ʙ: 'b',
  ᴄ: 'c',
  ԁ: 'd',
  ᴅ: 'd',
  ɗ: 'd',
  ᴇ: 'e',
  є: 'e',
  ε: 'e',
  ҽ: 'e',
  ǝ: 'e',
  ə: 'e',
  ә: 'e',
  ɢ: 'g',
  ʜ: 'h',
  н: 'h',
  ɪ: 'l',
  ᴊ: 'l',
  ᴋ: 'k',
  к: 'k',
  κ: 'k',
  ʟ: 'l',
  в: 'b',
  ь: 'b',
  ᴍ: 'm',
  м: 'm',
  ɴ: 'n',
  п: 'n',
  η: 'n',
  ᴏ: 'o',
  ᴘ: 'p',
  ʀ: 'r',
  г: 'r',
  ꜱ: 's',
  ᴛ: 't',
  т: 't',
  τ: 't',
  ᴜ: 'u',
  ц: 'u',
  ᴠ: 'v',
  ᴡ: 'w',
  χ: 'x',
  ʏ: 'y',
  ᴢ: 'z',
  з: 'z',
}

/** Letters and digits of ASCII that are drawn alike: one stands for all of them. */
const ALIKE: Readonly<Record<string, string>> = {
  i: 'l',
  j: 'l',
  1: 'l',
  '|': 'l',
  '!': 'l',
  0: 'o',
  5: 's',
  $: 's',
  2: 'z',
}

const drawn = (text: string): string =>
  [...text].map(character => READ_AS[character] ?? CONFUSABLES.get(character) ?? character).join('')

/** What a name looks like: lookalikes replaced, accents off, everything but letters and digits gone. */
function skeletonOf(name: string): string {
  // Before the decomposition as well: it turns some lookalikes into letters that look like nothing.
  const plain = drawn(name).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const replaced = [...drawn(plain)].map(character => ALIKE[character] ?? character).join('')
  return replaced
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w')
    .replace(/[^\p{L}\p{N}]/gu, '')
}

const OWN_NAME = skeletonOf('Millrace')
