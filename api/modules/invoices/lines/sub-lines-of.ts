// An invoice with the sub lines of one customer.
import type { InvoiceView } from '../schema.ts'

/** Leaves out the sub lines of other customers. Sub lines of no customer, such as those of bands, stay; without an id all do. */
export function subLinesOf(view: InvoiceView, customerId: string | undefined): InvoiceView {
  if (customerId === undefined || !view.periods) return view
  const periods = view.periods.map(period => ({
    ...period,
    groups: period.groups.map(group => ({
      ...group,
      ...(group.lines && {
        lines: group.lines.map(({ sub_lines, ...line }) => ({
          ...line,
          ...(sub_lines && {
            sub_lines: sub_lines.filter(({ processing_only_customer_id: id = customerId }) => id === customerId),
          }),
        })),
      }),
    })),
  }))
  return { ...view, periods }
}
