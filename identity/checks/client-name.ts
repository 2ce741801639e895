// The name a client gives itself: what it may hold, and whether it is one that people know. Nobody verifies it. Pure.
import { OAuthError } from '../oauth-error.ts'

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

/** `known`: the very name. `lookalike`: other characters that look like it, which only a deceiver chooses. */
export type Recognition =
  | { readonly kind: 'known'; readonly client: KnownClient }
  | { readonly kind: 'lookalike'; readonly client: KnownClient }
  | { readonly kind: 'unknown' }

const folded = (name: string): string => name.normalize('NFKC').toLowerCase().trim()

/** Whether a name is one that people know (security 1.2, item 19). */
export function recognise(name: string): Recognition {
  const exact = KNOWN_CLIENTS.find(client => folded(client.name) === folded(name))
  if (exact) return { kind: 'known', client: exact }
  const skeleton = skeletonOf(name)
  const alike = KNOWN_CLIENTS.find(client => skeletonOf(client.name) === skeleton)
  return alike ? { kind: 'lookalike', client: alike } : { kind: 'unknown' }
}

// Letters of other scripts, and digits, that are drawn like a Latin letter; after folding to lower case.
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  а: 'a',
  ɑ: 'a',
  α: 'a',
  в: 'b',
  ь: 'b',
  с: 'c',
  ϲ: 'c',
  ԁ: 'd',
  ɗ: 'd',
  е: 'e',
  є: 'e',
  ε: 'e',
  ҽ: 'e',
  ɡ: 'g',
  ց: 'g',
  һ: 'h',
  н: 'h',
  і: 'l',
  ι: 'l',
  ӏ: 'l',
  ı: 'l',
  i: 'l',
  j: 'l',
  ј: 'l',
  1: 'l',
  '|': 'l',
  '!': 'l',
  к: 'k',
  κ: 'k',
  м: 'm',
  ո: 'n',
  п: 'n',
  η: 'n',
  о: 'o',
  ο: 'o',
  σ: 'o',
  օ: 'o',
  0: 'o',
  р: 'p',
  ρ: 'p',
  ԛ: 'q',
  г: 'r',
  ѕ: 's',
  5: 's',
  $: 's',
  т: 't',
  τ: 't',
  υ: 'u',
  ս: 'u',
  ц: 'u',
  ν: 'v',
  ѵ: 'v',
  ԝ: 'w',
  ѡ: 'w',
  х: 'x',
  χ: 'x',
  у: 'y',
  γ: 'y',
  ү: 'y',
  ᴢ: 'z',
  з: 'z',
  2: 'z',
}

/** What a name looks like: accents off, lookalikes replaced, everything but letters and digits gone. */
function skeletonOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const replaced = [...plain].map(character => LOOKS_LIKE[character] ?? character).join('')
  return replaced
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w')
    .replace(/[^\p{L}\p{N}]/gu, '')
}
