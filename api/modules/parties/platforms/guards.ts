// An installation lets its platforms raise their ingest limits so far and no further. Gateways hold them to it too.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { beforeSave, type Installation } from '../../../resource/rules.ts'
import { platformResource } from './platform.ts'
import type { IngestSettings } from './schema.ts'
import type { Platform } from './table.ts'

/** Throws INVALID_FIELD for a limit above INGEST_RATE_MAX or INGEST_BATCH_MAX. */
function refuseAboveCeilings(
  _uow: Uow,
  row: Platform,
  previous: Platform | null,
  { ingestCeilings }: Installation,
): void {
  if (!ingestCeilings) return
  const refuseAbove = (name: keyof IngestSettings, ceiling: number): void => {
    const value = row.ingest_settings[name]
    // What was allowed when it was set does not stand in the way of other changes.
    if ((value ?? 0) <= ceiling || value === previous?.ingest_settings[name]) return
    throw new AppError('INVALID_FIELD', `This installation allows at most ${ceiling}; its operator can allow more.`, {
      field: `ingest_settings.${name}`,
    })
  }
  refuseAbove('events_per_second', ingestCeilings.eventsPerSecond)
  refuseAbove('batch_limit', ingestCeilings.batchLimit)
}

export const PLATFORM_GUARDS = [beforeSave(platformResource, refuseAboveCeilings)] as const
