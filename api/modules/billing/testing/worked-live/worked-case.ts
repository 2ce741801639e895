// Reads worked cases: what is sold, on which terms, what happens on which day, and the invoices that follow.
import { readFileSync } from 'node:fs'

/** A price of a plan: `fee 100 ahead`. Its name says what it is. */
export type WorkedPrice = { readonly name: string; readonly figure: string; readonly words: readonly string[] }
export type WorkedStep = { readonly at: string; readonly what: string; readonly words: readonly string[] }
export type WorkedCase = {
  readonly title: string
  /** Why the invoices are these. */
  readonly rule: string
  readonly plans: ReadonlyMap<string, readonly WorkedPrice[]>
  readonly start: readonly string[]
  readonly clauses: readonly (readonly string[])[]
  readonly steps: readonly WorkedStep[]
  readonly invoices: readonly string[]
}

/** The cases of a file beside this one. */
export const readWorkedCases = (file: string): WorkedCase[] =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split(/\n\n+/)
    .map(readCase)

function readCase(block: string): WorkedCase {
  const [title = '', rule = '', ...lines] = block.split('\n')
  if (!title.startsWith('# ') || !rule.startsWith('> ')) throw new Error(`a case needs a title and a rule: ${block}`)
  const plans = new Map<string, WorkedPrice[]>()
  const [start, clauses, steps, invoices] = [[] as string[], [] as string[][], [] as WorkedStep[], [] as string[]]
  for (const line of lines) {
    const [first = '', ...words] = line.split(' ')
    const rest = words.join(' ')
    if (first === 'sold') plans.set((words[0] ?? '').slice(0, -1), words.slice(1).join(' ').split('; ').map(priceOf))
    else if (first === 'start') start.push(...words)
    else if (first === 'with') clauses.push(...rest.split('; ').map(text => text.split(' ')))
    else if (first === '=' || first === '-') invoices.push(line)
    else if (/^\d{4}-/.test(first)) steps.push({ at: first, what: words[0] ?? '', words: words.slice(1) })
    else throw new Error(`${title}: ${line}`)
  }
  return { title: title.slice(2), rule: rule.slice(2), plans, start, clauses, steps, invoices }
}

function priceOf(text: string): WorkedPrice {
  const [name = '', figure = '', ...words] = text.split(' ')
  return { name, figure, words }
}

/** The word that follows this one; null where it is absent. */
export function after(words: readonly string[], word: string): string | null {
  const place = words.indexOf(word)
  return place < 0 ? null : (words[place + 1] ?? null)
}

/** `2026-01-11` is the start of that day in UTC. */
export const timeOf = (text: string): string => (text.includes('T') ? text : `${text}T00:00:00Z`)
