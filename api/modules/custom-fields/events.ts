// What happens to custom fields. A change of a value is a change of the resource that has it.
import { CHANGES, defineEvents } from '../../../shared/contracts/event-types.ts'

export const CUSTOM_FIELD_EVENTS = defineEvents({ CUSTOM_FIELD: CHANGES })

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly customFields: typeof CUSTOM_FIELD_EVENTS
  }
}
