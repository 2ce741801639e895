// When terms end, and when the schedules of a template begin, by the calendar of the slow model (semantics 4.1, 4.2).
import { addMonths, type Day, dayOf, type Length, monthsIn, sameTimeLater, startOfDay } from './calendar.ts'

/** For how long a subscription is agreed; `renewal` null: as long again. */
export type Terms = { readonly initial: Length; readonly renewal: Length | null }
/** What a subscription is made from: two schedules, of the first plan and of `plan`, in a time of their own. */
export type Template = { readonly start: number; readonly change: number; readonly plan: number }
type Begun = { readonly start: number; readonly zone: string }

/** What follows from the facts of a story by a rule. */
export type Rules = {
  /** The end of the term that runs at a moment. */
  readonly termEnd: (story: Begun & { readonly terms: Terms | null }, moment: number) => number
  /** A time of the template, moved to the start of the subscription. */
  readonly moved: (story: Begun & { readonly template: Template | null }, time: number) => number
}

/** A day so many lengths later. */
export const laterBy = (day: Day, length: Length, times = 1): Day =>
  monthsIn(length) > 0
    ? addMonths(day, times * monthsIn(length))
    : day + times * (length.type === 'WEEK' ? 7 : 1) * length.value

export const OWN_RULES: Rules = {
  termEnd({ start, zone, terms }, moment) {
    if (!terms) throw new Error('it has no term')
    const { initial, renewal } = terms
    const next = renewal ?? initial
    const begun = dayOf(start, zone)
    const first = laterBy(begun, initial)
    for (let times = 0; ; times += 1) {
      // Months are all added to the start, so that a term that begins on the 31st ends on the last day of each month.
      const day =
        monthsIn(initial) > 0 && monthsIn(next) > 0
          ? addMonths(begun, monthsIn(initial) + times * monthsIn(next))
          : laterBy(first, next, times)
      if (startOfDay(day, zone) > moment) return startOfDay(day, zone)
    }
  },
  moved({ start, zone, template }, time) {
    if (!template) throw new Error('it has no template')
    const days = dayOf(time, zone) - dayOf(template.start, zone)
    return sameTimeLater(start, days, zone) + time - sameTimeLater(template.start, days, zone)
  },
}
