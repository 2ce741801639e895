// Which tools a few words mean, the likeliest first. An agent says what its user said; no word has to be one of ours.
import type { ApiTool, Tools } from './tools.ts'

/** What people say, and the words of the description it may stand for. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  account: ['customer'],
  add: ['create'],
  bill: ['invoice', 'billing'],
  buyer: ['customer'],
  change: ['update', 'amend'],
  charge: ['pricing', 'item'],
  client: ['customer'],
  company: ['customer'],
  consumption: ['event', 'usage'],
  cost: ['preview', 'pricing'],
  edit: ['update'],
  end: ['cancel', 'archive'],
  estimate: ['preview'],
  find: ['search', 'list'],
  fix: ['amend', 'update'],
  make: ['create'],
  metric: ['meter', 'calculation'],
  new: ['create'],
  price: ['pricing', 'pricings'],
  quota: ['entitlement', 'feature'],
  receipt: ['invoice', 'pdf'],
  remove: ['delete'],
  seat: ['feature', 'entitlement'],
  send: ['ingest'],
  show: ['get', 'list', 'read'],
  stop: ['cancel', 'archive'],
  tier: ['pricing'],
  total: ['preview', 'invoice'],
  usage: ['event', 'meter'],
  user: ['user'],
  view: ['get', 'list'],
  why: ['trace'],
}
const NOISE = new Set([
  'a',
  'an',
  'the',
  'of',
  'for',
  'to',
  'my',
  'in',
  'on',
  'and',
  'or',
  'is',
  'how',
  'do',
  'i',
  'what',
  'all',
])

/** Tools whose score is below this part of the best one's are about something else. */
const WORTH = 0.5
const IN_NAME = 4
const IN_SUMMARY = 2
const BY_SYNONYM = 0.6

/** The words of a text that mean something, in small letters and without a plural s. */
export const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '' && !NOISE.has(word))
    .map(stem)

const stem = (word: string): string =>
  word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word

/** The tools that the words fit, the best first; every tool when there are no words. */
export function rankTools(tools: Tools | readonly ApiTool[], text: string): readonly ApiTool[] {
  const all = Array.isArray(tools) ? tools : [...tools.values()]
  const words = wordsOf(text)
  if (words.length === 0) return all
  const scored = all
    .map(tool => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.tool.name.length - b.tool.name.length)
  const best = scored[0]?.score ?? 0
  return scored.filter(({ score }) => score >= best * WORTH).map(({ tool }) => tool)
}

function scoreOf({ name, operation }: ApiTool, words: readonly string[]): number {
  const named = wordsOf(name)
  const said = wordsOf(operation.summary)
  const once = (word: string): number =>
    named.some(each => each.startsWith(word)) ? IN_NAME : said.some(each => each.startsWith(word)) ? IN_SUMMARY : 0
  const score = words.reduce((sum, word) => {
    const other = Math.max(0, ...(SYNONYMS[word] ?? []).map(each => once(stem(each))))
    return sum + Math.max(once(word), other * BY_SYNONYM)
  }, 0)
  // Of two that fit, the one whose name says less besides is meant.
  return score === 0 ? 0 : score + 1 / (1 + named.length)
}
