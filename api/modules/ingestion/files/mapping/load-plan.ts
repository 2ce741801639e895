// What a file is read by, from what the tenant has saved: its meter or its settings, and the customers they name.
import { and, or } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import { findOne, getOne } from '../../../../resource/store.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { meterResource } from '../../../catalog/meters/meter.ts'
import { customers } from '../../../parties/customers/table.ts'
import { fileProcessingSettingsResource } from '../../file-processing-settings/file-processing-settings.ts'
import type { CustomerName, FileProcessingSettings } from '../../file-processing-settings/table.ts'
import { meterColumns } from '../meter-columns.ts'
import type { StoredFile } from '../table.ts'
import { UnreadableFile } from '../unreadable-file.ts'
import { defaultPlan } from './default-plan.ts'
import type { FileFacts, Plan } from './plan.ts'
import { settingsPlan } from './settings-plan.ts'

const settingsOf = async (uow: ReadUow, file: StoredFile): Promise<FileProcessingSettings | null> =>
  file.file_processing_settings_id === null
    ? null
    : await getOne(uow, fileProcessingSettingsResource, file.file_processing_settings_id)

/** How this file's columns become events. Throws UnreadableFile when they do not fit. */
export async function loadPlan(uow: ReadUow, file: StoredFile, columns: readonly string[]): Promise<Plan> {
  const settings = await settingsOf(uow, file)
  const hasCustomer = file.customer_id !== null
  if (settings) return settingsPlan(columns, settings.meter_data, hasCustomer)
  const meterId = file.meter_data?.meter_id ?? ''
  const meter = await findOne(uow, meterResource, meterId)
  if (!meter) throw new UnreadableFile(`The meter ${meterId} of this file has been deleted.`)
  return defaultPlan(columns, await meterColumns(uow, meter), hasCustomer)
}

/** What holds for every line of this file; `startedAt` is the time of lines that give none. */
export async function loadFacts(uow: ReadUow, file: StoredFile, startedAt: string): Promise<FileFacts> {
  const settings = await settingsOf(uow, file)
  const included = await everyName(uow, settings?.included_customers ?? [])
  const excluded = await everyName(uow, settings?.excluded_customers ?? [])
  return {
    customerId: file.customer_id,
    overrideTimestamp: file.meter_data?.override_ingest_timestamp ?? null,
    fallbackTimestamp: startedAt,
    takesCustomer: key => (included.size === 0 || included.has(key)) && !excluded.has(key),
  }
}

/** The ids and references of these customers: a line may carry either. One that does not exist yet is known by its reference. */
async function everyName(uow: ReadUow, names: readonly CustomerName[]): Promise<Set<string>> {
  const given = names.flatMap(({ id, reference }) => [id, reference]).filter(name => name !== undefined)
  if (given.length === 0) return new Set()
  const rows = await uow.tx
    .select({ id: customers.id, reference: customers.reference })
    .from(customers)
    .where(
      and(
        inThisTenant(uow, customers),
        or(anyOf(customers.id, idsOf('cust', given)), anyOf(customers.reference, given)),
      ),
    )
  return new Set([...given, ...rows.flatMap(({ id, reference }) => (reference === null ? [id] : [id, reference]))])
}
