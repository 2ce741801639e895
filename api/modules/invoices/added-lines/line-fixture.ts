// How the tenant tests call a route below a line of an invoice.
import { type RouteFixture, seededView } from '../../../resource/routes/route-fixture.ts'

/** The fixture of a route below a line of the seeded invoice. */
export const onSeededLine: RouteFixture = {
  params: seeded => {
    const { id, periods } = seededView(seeded, 'INVOICE')
    const [line] = (periods as { groups: { lines: { id: string }[] }[] }[]).flatMap(({ groups }) =>
      groups.flatMap(({ lines }) => lines),
    )
    return { id: String(id), line_id: line?.id ?? 'none' }
  },
}
