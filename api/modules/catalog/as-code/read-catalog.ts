// GET /v1/catalog: the whole catalog as one file. Custom fields, values of meter property variables, and plans for one
// customer are not part of it.
import { and, asc } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { CUSTOM_FIELDS, type Resource, type Row, type StoredRow } from '../../../resource/define-resource.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { groupsOf } from '../pricing-groups/load-groups.ts'
import type { PricingGroup } from '../pricing-groups/table.ts'
import { pricingResource } from '../pricing-plans/pricing.ts'
import { pricingGroupResource } from '../pricing-plans/pricing-group.ts'
import { type Pricing, type PricingPlanVersion, pricingPlanVersions } from '../pricing-plans/table.ts'
import { pricingsOf } from '../pricing-plans/version-pricings.ts'
import { type Names, toFile, unnamed } from './entries.ts'
import { type CatalogDocument, type CatalogEntry, FORMAT, type VersionEntry } from './schema.ts'
import { resourceOf, SECTION_NAMES, type Section } from './sections.ts'

/** The catalog as it is stored, and how its entries are named. */
export type StoredCatalog = {
  readonly rows: ReadonlyMap<Section, readonly StoredRow[]>
  /** The reference of an id. */
  readonly references: Names
  /** The id of a reference. */
  readonly ids: Names
  /** By plan, lowest number first. */
  readonly versions: ReadonlyMap<string, readonly PricingPlanVersion[]>
  /** By version, as they are shown. */
  readonly pricings: ReadonlyMap<string, readonly Pricing[]>
  /** By version, as they are shown. */
  readonly groups: ReadonlyMap<string, readonly PricingGroup[]>
}

export async function readCatalog(uow: ReadUow): Promise<StoredCatalog> {
  const rows = new Map<Section, StoredRow[]>()
  for (const section of SECTION_NAMES) {
    const { table } = resourceOf(section)
    const found = await uow.tx
      .select()
      .from(table)
      .where(and(inThisTenant(uow, table)))
      .orderBy(asc(table.created_at), asc(table.id))
    rows.set(section, found as StoredRow[])
  }
  const v = pricingPlanVersions
  const versions = await uow.tx.select().from(v).where(inThisTenant(uow, v)).orderBy(asc(v.version))
  const versionIds = versions.map(({ id }) => id)
  const pricings = await pricingsOf(uow, versionIds)
  const groups = await groupsOf(uow, versionIds)
  const namesBy = (pair: (id: string, reference: string) => [string, string]): Names =>
    new Map(
      [...rows].map(([section, list]) => [
        section,
        new Map(list.flatMap(row => (referenceOf(row) === null ? [] : [pair(row.id, String(referenceOf(row)))]))),
      ]),
    )
  return {
    rows,
    references: namesBy((id, reference) => [id, reference]),
    ids: namesBy((id, reference) => [reference, id]),
    versions: groupBy(versions, each => each.pricing_plan_id),
    pricings: groupBy(pricings, each => each.pricing_plan_version_id),
    groups: groupBy(groups, each => each.pricing_plan_version_id),
  }
}

export const referenceOf = (row: StoredRow): string | null => ((row as Row).reference as string | null) ?? null

/** The fields of a resource that a file has. */
export const fieldsInFile = (resource: Pick<Resource, 'fields'>): string[] =>
  Object.entries(resource.fields).flatMap(([name, { create }]) =>
    create === 'never' || name === CUSTOM_FIELDS || name === 'customer_id' || name === 'pricing_plan_version_id'
      ? []
      : [name],
  )

/** A row as an entry of its section. */
export function entryOf(resource: Pick<Resource, 'fields'>, row: StoredRow, { references }: StoredCatalog): Row {
  const fields = fieldsInFile(resource).map(name => [name, (row as Row)[name]] as const)
  return toFile(Object.fromEntries(fields), references) as Row
}

/** The pricings of a version, in the order in which they are shown; each names its group as the version does. */
export const pricingEntries = (stored: StoredCatalog, versionId: string): Row[] =>
  (stored.pricings.get(versionId) ?? []).map(({ pricing_group_id, ...row }) => {
    const group = stored.groups.get(versionId)?.find(({ id }) => id === pricing_group_id)
    return { ...(group ? { pricing_group: group.name } : {}), ...entryOf(pricingResource, row, stored) }
  })

/** The pricing groups of a version, in the order in which they are shown; those of one version have different names. */
export const groupEntries = (stored: StoredCatalog, versionId: string): (Row & { readonly name: string })[] =>
  (stored.groups.get(versionId) ?? []).map(row => ({
    ...entryOf(pricingGroupResource, row, stored),
    name: row.name,
  }))

/** What is for one customer is not part of a file: customers are not, and other tenants have others. */
const isForAll = (row: StoredRow): boolean => ((row as Row).customer_id ?? null) === null

/** An entry names only those before it. */
function parentsFirst(rows: readonly StoredRow[]): StoredRow[] {
  const parents = new Map(rows.map(row => [row.id, (row as Row).parent_product_id as string | null | undefined]))
  const depthOf = (id: string): number => {
    const parent = parents.get(id)
    return parent ? depthOf(parent) + 1 : 0
  }
  return rows.toSorted((a, b) => depthOf(a.id) - depthOf(b.id))
}

const named = (section: Section, row: StoredRow): string => referenceOf(row) ?? unnamed(section, row.id)

/** Throws INVALID_OPERATION naming a resource that has no reference to be named by. */
export function catalogFile(stored: StoredCatalog): CatalogDocument {
  const versionEntry = ({ id, version, status, rate_card }: PricingPlanVersion): VersionEntry => ({
    version,
    status,
    ...(rate_card ? { rate_card } : {}),
    ...(stored.groups.has(id) ? { pricing_groups: groupEntries(stored, id) } : {}),
    pricings: pricingEntries(stored, id),
  })
  const sections = SECTION_NAMES.map(section => {
    const entries = parentsFirst(stored.rows.get(section) ?? [])
      .filter(isForAll)
      .map(row => {
        const entry = { ...entryOf(resourceOf(section), row, stored), reference: named(section, row) }
        const versions = section === 'pricing_plans' ? (stored.versions.get(row.id) ?? []) : []
        return {
          ...entry,
          ...(versions.length === 0 ? {} : { versions: versions.map(versionEntry) }),
        } satisfies CatalogEntry
      })
    return [section, entries] as const
  })
  return { format: FORMAT, ...Object.fromEntries(sections.filter(([, entries]) => entries.length > 0)) }
}
