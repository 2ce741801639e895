// A model pays for every character it reads, and clients cut or refuse what is too long. An answer is therefore made to fit, and
// says what was left out.

export type LeftOut = { readonly at: string; readonly shown: number; readonly of: number }
type Json = unknown

const size = (value: Json): number => JSON.stringify(value)?.length ?? 0

/**
 * `value` with long lists, texts and objects cut at their ends until it has at most `characters` as JSON; a value that fits is
 * returned as it is. `leftOut` names each place that was cut. Below a hundred characters it may be a little over.
 */
export function shorten(
  value: Json,
  characters: number,
): { readonly value: Json; readonly leftOut: readonly LeftOut[] } {
  const leftOut: LeftOut[] = []
  return { value: fitted(value, characters, 'data', leftOut), leftOut }
}

function fitted(value: Json, budget: number, at: string, leftOut: LeftOut[]): Json {
  if (size(value) <= budget) return value
  if (typeof value === 'string') return fitText(value, budget, at, leftOut)
  if (Array.isArray(value)) return fitList(value, budget, at, leftOut)
  if (typeof value === 'object' && value !== null) return fitObject(value, budget, at, leftOut)
  return value
}

function fitText(text: string, budget: number, at: string, leftOut: LeftOut[]): string {
  let shown = Math.max(budget - 2, 0)
  // An escaped character takes up to six; what is left is halved until it fits.
  while (shown > 0 && size(text.slice(0, shown)) > budget) shown = Math.floor(shown / 2)
  const cut = text.slice(0, shown).replace(/[\ud800-\udbff]$/, '')
  leftOut.push({ at, shown: cut.length, of: text.length })
  return cut
}

function fitList(list: readonly Json[], budget: number, at: string, leftOut: LeftOut[]): Json[] {
  const shown: Json[] = []
  let left = budget - 2
  for (const item of list) {
    const needed = size(item) + 1
    if (needed > left) break
    shown.push(item)
    left -= needed
  }
  // One item that is too long alone is shown in part: a list of nothing would say less than it could.
  const [first] = list
  if (shown.length === 0 && left > 0) shown.push(fitted(first, left, `${at}[0]`, leftOut))
  if (shown.length < list.length) leftOut.push({ at, shown: shown.length, of: list.length })
  return shown
}

/** Small members stay whole; what they leave is shared evenly among the large ones. */
function fitObject(object: object, budget: number, at: string, leftOut: LeftOut[]): Json {
  const members = Object.entries(object).map(([name, member]) => ({
    name,
    member,
    own: size(name) + 2,
    needs: size(member),
  }))
  const kept = new Map<string, Json>()
  let left = budget - 2
  const bySize = members.toSorted((a, b) => a.needs - b.needs)
  for (const [index, { name, member, own, needs }] of bySize.entries()) {
    const share = Math.floor(left / (bySize.length - index)) - own
    if (share < Math.min(needs, 2)) continue
    const cut = fitted(member, share, `${at}.${name}`, leftOut)
    const taken = own + size(cut)
    if (taken > left) continue
    kept.set(name, cut)
    left -= taken
  }
  if (kept.size < members.length) leftOut.push({ at, shown: kept.size, of: members.length })
  return Object.fromEntries(members.flatMap(({ name }) => (kept.has(name) ? [[name, kept.get(name)]] : [])))
}
