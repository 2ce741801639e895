// The same rules as the product has them.
import { type Zone, zoneOf } from '../../../../../shared/billing/local-days.ts'
import { instantOf } from '../../../../../shared/time.ts'
import { currentTermEnd } from '../../../subscriptions/ending/term-end.ts'
import { movedTime } from '../../../subscriptions/init/from-template.ts'
import type { Rules } from './own-rules.ts'

function zoneNamed(name: string): Zone {
  const zone = zoneOf(name)
  if (!zone) throw new Error(`there is no zone ${name}`)
  return zone
}

export const PRODUCT_RULES: Rules = {
  termEnd({ start, zone, terms }, moment) {
    const { initial = null, renewal = null } = terms ?? {}
    const agreed = { initial_term: initial, renewal_term: renewal, auto_renewal: true }
    const end = currentTermEnd(agreed, instantOf(start), zoneNamed(zone), instantOf(moment))
    if (end === null) throw new Error('it has no term')
    return end
  },
  moved({ start, zone, template }, time) {
    if (!template) throw new Error('it has no template')
    const moves = { from: instantOf(template.start), to: instantOf(start), zone: zoneNamed(zone) }
    return movedTime(instantOf(time), moves)
  },
}
