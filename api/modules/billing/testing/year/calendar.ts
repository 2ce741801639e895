// Days and periods for the slow model, by Date and Intl alone: shared/billing/periods.ts is what it is compared with.
const DAY = 86_400_000
export type Length = { readonly type: 'DAY' | 'WEEK' | 'MONTH' | 'YEAR'; readonly value: number }
/** Days since 1970. */
export type Day = number

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  formats.set(zone, format)
  return format
}

const days = new Map<string, Day>()
/** The local day of a moment. */
export function dayOf(moment: number, zone: string): Day {
  const key = `${moment} ${zone}`
  const known = days.get(key)
  if (known !== undefined) return known
  const day = Math.round(Date.parse(`${formatOf(zone).format(moment)}T00:00:00Z`) / DAY)
  days.set(key, day)
  return day
}

const starts = new Map<string, number>()
/** The first moment of a local day: midnights fall on whole minutes. */
export function startOfDay(day: Day, zone: string): number {
  const key = `${day} ${zone}`
  const known = starts.get(key)
  if (known !== undefined) return known
  let [before, from] = [day * DAY - 26 * 3_600_000, day * DAY + 26 * 3_600_000]
  while (from - before > 60_000) {
    const middle = before + Math.floor((from - before) / 120_000) * 60_000
    if (Math.round(Date.parse(`${formatOf(zone).format(middle)}T00:00:00Z`) / DAY) < day) before = middle
    else from = middle
  }
  starts.set(key, from)
  return from
}

/** The days from one up to another that a zone had: Pacific/Apia had no 30 December 2011. */
export function daysBetween(first: Day, after: Day, zone: string): Day[] {
  const had: Day[] = []
  for (let day = first; day < after; day += 1) if (startOfDay(day, zone) < startOfDay(day + 1, zone)) had.push(day)
  return had
}

const partsOf = (day: Day): [year: number, month: number, date: number] => {
  const date = new Date(day * DAY)
  return [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
}

/** The same day of a later month, or its last day. */
export function addMonths(day: Day, months: number): Day {
  const [year, month, date] = partsOf(day)
  const last = new Date(Date.UTC(year, month + months + 1, 0)).getUTCDate()
  return Date.UTC(year, month + months, Math.min(date, last)) / DAY
}

/** 0 for a length in days. */
export const monthsIn = ({ type, value }: Length): number =>
  type === 'MONTH' ? value : type === 'YEAR' ? 12 * value : 0

const clocks = new Map<string, Intl.DateTimeFormat>()
/** How much the clocks of a zone are ahead of UTC. */
function offsetAt(moment: number, zone: string): number {
  const clock =
    clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  clocks.set(zone, clock)
  return Date.parse(`${clock.format(moment).replace(' ', 'T')}Z`) - moment
}

/** So many local days later, when the clocks say the same; the later time where they skip that. */
export function sameTimeLater(moment: number, days: number, zone: string): number {
  const shown = moment + offsetAt(moment, zone) + days * DAY
  const [before, after] = [offsetAt(shown - 2 * DAY, zone), offsetAt(shown + 2 * DAY, zone)]
  return (
    [before, after].map(offset => shown - offset).find(time => time + offsetAt(time, zone) === shown) ?? shown - before
  )
}

type Grid = { readonly zone: string; readonly start: number; readonly calendar: boolean }

/** The period that contains a day, as its first day and the first day after it (semantics 0.3, 4.4). */
export function periodAt({ zone, start, calendar }: Grid, { type, value }: Length, day: Day): [Day, Day] {
  const months = monthsIn({ type, value })
  const own = dayOf(start, zone)
  if (months === 0) {
    const days = type === 'WEEK' ? 7 * value : value
    // Monday, 3 January 2000.
    const origin = calendar && type === 'WEEK' ? Date.UTC(2000, 0, 3) / DAY : own
    const first = origin + Math.floor((day - origin) / days) * days
    return [first, first + days]
  }
  const origin = calendar ? Date.UTC(2000, 0, 1) / DAY : own
  const [[year, month], [sinceYear, sinceMonth]] = [partsOf(day), partsOf(origin)]
  let count = Math.max(0, Math.floor(((year - sinceYear) * 12 + month - sinceMonth) / months) - 1)
  while (addMonths(origin, (count + 1) * months) <= day) count += 1
  return [addMonths(origin, count * months), addMonths(origin, (count + 1) * months)]
}
