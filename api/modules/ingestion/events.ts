// What happens to usage events after they were accepted, and to files of them.
import { defineEvents } from '../../../shared/contracts/event-types.ts'

export const INGESTION_EVENTS = defineEvents({
  METER_DATA: ['UPDATED', 'DELETED'],
  FILE: ['CREATED', 'UPDATED'],
  FILE_PROCESSING_SETTINGS: ['CREATED', 'UPDATED'],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly ingestion: typeof INGESTION_EVENTS
  }
}
