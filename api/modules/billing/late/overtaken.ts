// Closed time whose late usage was billed on a later invoice. From then on that later invoice is the one that says what
// was billed of it. Pure.

type Charged = { readonly unit: string; readonly service: readonly [number, number] }
type Closed = { readonly invoice_id: string; readonly charges: readonly Charged[] }

const overlap = (one: Charged, other: Charged): boolean =>
  one.service[0] < other.service[1] && other.service[0] < one.service[1]

/** Whether an invoice that was closed later billed the same price for the same time. `closed`: in the order of closing. */
const isBilledLater = (closed: readonly Closed[], place: number, charge: Charged): boolean =>
  closed
    .slice(place + 1)
    .some(({ charges }) => charges.some(each => each.unit === charge.unit && overlap(each, charge)))

/** The ids of the invoices whose late usage a later invoice bills. `closed` is in the order of closing. */
export const overtaken = (closed: readonly Closed[]): Set<string> =>
  new Set(
    closed.flatMap(({ invoice_id, charges }, place) =>
      charges.some(charge => isBilledLater(closed, place, charge)) ? [invoice_id] : [],
    ),
  )

/** What these invoices, which charged nothing, left unbilled, and no later invoice billed either. */
export const neverBilled = <T extends Closed>(closed: readonly T[], chargedNothing: ReadonlySet<string>): T[] =>
  closed.flatMap((each, place) => {
    if (!chargedNothing.has(each.invoice_id)) return []
    const charges = each.charges.filter(charge => !isBilledLater(closed, place, charge))
    return charges.length === 0 ? [] : [{ ...each, charges }]
  })
