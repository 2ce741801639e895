// Which invoice of a subscription billed something ahead. Mostly it is the one that ends where the time of the charge begins. Of any other,
// a text among the keys of charges tells it: one of a plan that came in a period that ran, or of an ADDON that begins later. Pure.
import { formatInstant, type Instant } from '../../../../shared/time.ts'

const PREFIX = 'cut '
/** Begins the text of a charge whose time had begun at the cutoff, among what was stored with invoices before cutoffs were. */
const BEGUN = 'begun '

type OfCharge = { readonly key: string; readonly start: Instant }

/** When its invoice was cut, as a text among the keys of charges; none where the time of the charge begins then. */
export const textsOfCutoff = ({ key, start }: OfCharge, cutoffAt: Instant): string[] =>
  start === cutoffAt ? [] : [`${PREFIX}${cutoffAt} ${key}`]

/** Whether it is the text of a cutoff, rather than the key of a charge. */
export const isCutoff = (text: string): boolean => text.startsWith(PREFIX) || text.startsWith(BEGUN)

/** When the invoices of charges were cut, by the keys of the charges: of a minimum there may be several. */
function cutoffsIn(billed: ReadonlySet<string>): ReadonlyMap<string, readonly number[]> {
  const known = cutoffsOf.get(billed)
  // A set that grows is read again.
  if (known?.size === billed.size) return known.cutoffs
  const cutoffs = new Map<string, number[]>()
  for (const text of billed) {
    if (!text.startsWith(PREFIX)) continue
    const end = text.indexOf(' ', PREFIX.length)
    const key = text.slice(end + 1)
    cutoffs.set(key, [...(cutoffs.get(key) ?? []), Number(text.slice(PREFIX.length, end))])
  }
  cutoffsOf.set(billed, { size: billed.size, cutoffs })
  return cutoffs
}

const cutoffsOf = new WeakMap<
  ReadonlySet<string>,
  { readonly size: number; readonly cutoffs: ReadonlyMap<string, readonly number[]> }
>()

/** Whether a charge ahead that is billed may be of the invoice that was cut then. */
export function mayBeOf(billed: ReadonlySet<string>, { key, start }: OfCharge, cutoffAt: Instant): boolean {
  const cutoffs = cutoffsIn(billed).get(key)
  if (cutoffs) return cutoffs.includes(cutoffAt)
  return start < cutoffAt || !billed.has(BEGUN + key)
}

/** Whether the invoice that was cut then billed something ahead of one of these schedules, also where that is no charge any more. */
export function hasBilledOf(billed: ReadonlySet<string>, schedules: ReadonlySet<string>, cutoffAt: Instant): boolean {
  const isOf = (key: string): boolean =>
    [...schedules].some(id => key.startsWith(`${id} `) || (isMinimum(key) && key.includes(` ${id} `)))
  if ([...cutoffsIn(billed)].some(([key, cutoffs]) => cutoffs.includes(cutoffAt) && isOf(key))) return true
  const isFrom = (key: string): boolean =>
    // The key of a minimum ends with its start, its end and a tax category.
    isMinimum(key) ? Number(key.split(' ').at(-3)) === cutoffAt : key.includes(` ${formatInstant(cutoffAt)}`)
  return [...billed].some(key => isOf(key) && isFrom(key) && mayBeOf(billed, { key, start: cutoffAt }, cutoffAt))
}

const isMinimum = (key: string): boolean => key.startsWith('COMMITMENT ')
