// Closed time whose late usage was billed on a later invoice. From then on that later invoice is the one that says what
// was billed of it. Pure.

type Charged = {
  readonly unit: string
  readonly service: readonly [number, number]
  readonly isElsewhere?: boolean
}
type Closed = { readonly invoice_id: string; readonly charges: readonly Charged[] }

const overlap = (one: Charged, other: Charged): boolean =>
  one.service[0] < other.service[1] && other.service[0] < one.service[1]

/** Whether an invoice that was closed later billed the same price for the same time. `closed`: in the order of closing. */
const isBilledLater = (closed: readonly Closed[], place: number, charge: Charged): boolean =>
  closed
    .slice(place + 1)
    .some(({ charges }) => charges.some(each => each.unit === charge.unit && overlap(each, charge)))

/** The ids of the invoices whose late usage a later invoice bills. `closed` is in the order of closing. */
export const billedByLaterInvoices = (closed: readonly Closed[]): Set<string> =>
  new Set(
    closed.flatMap(({ invoice_id, charges }, place) =>
      charges.some(charge => isBilledLater(closed, place, charge)) ? [invoice_id] : [],
    ),
  )

/**
 * What the next invoice needs for the late usage of these invoices, which charged nothing: everything that was billed of
 * each of their pricing periods, so that none of it is billed again. The time whose late usage is not theirs is marked
 * `isElsewhere`: an invoice that charged something billed it last, and a correction changes that invoice.
 */
export function forNextInvoice<T extends Closed>(closed: readonly T[], chargedNothing: ReadonlySet<string>): T[] {
  const mine = closed.flatMap(({ invoice_id, charges }, place) =>
    chargedNothing.has(invoice_id) ? charges.filter(charge => !isBilledLater(closed, place, charge)) : [],
  )
  if (mine.length === 0) return []
  const units = new Set(mine.map(({ unit }) => unit))
  const isMine = (charge: Charged): boolean => mine.some(each => each.unit === charge.unit && overlap(each, charge))
  return closed.flatMap(each => {
    const charges = each.charges
      .filter(({ unit }) => units.has(unit))
      .map(charge => (isMine(charge) ? charge : { ...charge, isElsewhere: true }))
    return charges.length === 0 ? [] : [{ ...each, charges }]
  })
}
