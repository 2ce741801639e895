// GET /v1/catalog: the whole catalog as one file. What is for one customer, and variables without a reference, are not part of it.
import { and, asc } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { customFieldsOf } from '../../../resource/custom-fields/values.ts'
import { CUSTOM_FIELDS, type Resource, type Row, type StoredRow } from '../../../resource/define-resource.ts'
import { isListed } from '../../../resource/is-listed.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { meterPropertyVariableResource } from '../meter-property-variables/variable.ts'
import { groupsOf } from '../pricing-groups/load-groups.ts'
import type { PricingGroup } from '../pricing-groups/table.ts'
import { pricingResource } from '../pricing-plans/pricing.ts'
import { pricingGroupResource } from '../pricing-plans/selection/pricing-group.ts'
import { type Pricing, type PricingPlanVersion, pricingPlanVersions } from '../pricing-plans/table.ts'
import { pricingsOf } from '../pricing-plans/version-pricings.ts'
import { type Names, toFile, unnamed } from './entries.ts'
import { type CatalogDocument, type CatalogEntry, FORMAT, type VersionEntry } from './schema.ts'
import { type Resources, referenceOf, resourcesOf, SECTION_NAMES, type Section } from './sections.ts'
import { VARIABLE_FIELDS, VARIABLES, withValues } from './variables.ts'

/** The catalog as it is stored, and how its entries are named. */
export type StoredCatalog = {
  readonly resources: Resources
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
  const resources = resourcesOf(uow)
  for (const [section, { table, customFields }] of resources) {
    const found = await uow.tx
      .select()
      .from(table)
      .where(and(inThisTenant(uow, table), isListed(table)))
      .orderBy(asc(table.created_at), asc(table.id))
    const whole = section === VARIABLES ? await withValues(uow, found as StoredRow[]) : found
    rows.set(section, customFields ? await withFields(uow, whole as StoredRow[]) : (whole as StoredRow[]))
  }
  const v = pricingPlanVersions
  const versions = await uow.tx
    .select()
    .from(v)
    .where(and(inThisTenant(uow, v), isListed(v)))
    .orderBy(asc(v.version))
  const versionIds = versions.map(({ id }) => id)
  const pricings = await pricingsOf(uow, versionIds)
  const groups = await groupsOf(uow, versionIds)
  const namesBy = (pair: (id: string, reference: string) => [string, string]): Names =>
    new Map(
      [...rows].map(([section, list]) => [
        section,
        new Map(
          list.flatMap(row =>
            referenceOf(section, row) === null ? [] : [pair(row.id, String(referenceOf(section, row)))],
          ),
        ),
      ]),
    )
  return {
    resources,
    rows,
    references: namesBy((id, reference) => [id, reference]),
    ids: namesBy((id, reference) => [reference, id]),
    versions: groupBy(versions, each => each.pricing_plan_id),
    pricings: groupBy(pricings, each => each.pricing_plan_version_id),
    groups: groupBy(groups, each => each.pricing_plan_version_id),
  }
}

/** The same rows with the values of their custom fields, as views have them. */
async function withFields(uow: ReadUow, rows: readonly StoredRow[]): Promise<StoredRow[]> {
  const values = await customFieldsOf(
    uow,
    rows.map(({ id }) => id),
  )
  return rows.map(row => ({ ...row, [CUSTOM_FIELDS]: values.get(row.id) ?? [] }))
}

/** The resource of a section. */
export function resourceIn({ resources }: Pick<StoredCatalog, 'resources'>, section: Section): Resource {
  const resource = resources.get(section)
  if (!resource) throw new Error(`no module has the section ${section}`)
  return resource
}

/** Not among the fields of an entry: its customer, its billing entity, its version, and its code with the format of that. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'customer_id',
  'billing_entity_id',
  'pricing_plan_version_id',
  'code',
  'code_format',
])

/** The fields of a resource that a file has. */
export const fieldsInFile = (resource: Pick<Resource, 'fields'>): string[] =>
  Object.entries(resource.fields).flatMap(([name, { create }]) =>
    create === 'never' || LEFT_OUT.has(name) ? [] : [name],
  )

/** A row as an entry of its section. */
export function entryOf(resource: Pick<Resource, 'fields'>, row: StoredRow, { references }: StoredCatalog): Row {
  const names = resource === meterPropertyVariableResource ? VARIABLE_FIELDS : fieldsInFile(resource)
  const fields = names.map(name => [name, (row as Row)[name]] as const)
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
const isForAll = (row: StoredRow): boolean => {
  const { customer_id, limited_to } = row as Row & { limited_to?: { customer_ids?: readonly string[] } | null }
  return (customer_id ?? null) === null && (limited_to?.customer_ids ?? []).length === 0
}

/** An entry names only those before it. */
function parentsFirst(rows: readonly StoredRow[]): StoredRow[] {
  const parents = new Map(rows.map(row => [row.id, (row as Row).parent_product_id as string | null | undefined]))
  const depthOf = (id: string): number => {
    const parent = parents.get(id)
    return parent ? depthOf(parent) + 1 : 0
  }
  return rows.toSorted((a, b) => depthOf(a.id) - depthOf(b.id))
}

const named = (section: Section, row: StoredRow): string => referenceOf(section, row) ?? unnamed(section, row.id)

/** What a version says of itself, besides its status; a member that it does not have is left out. */
export const OWN_MEMBERS = ['rate_card', 'pricing_currency_settings', 'billing_period_settings'] as const
type OwnMembers = Pick<VersionEntry, (typeof OWN_MEMBERS)[number]>

const ownMembers = (row: Pick<PricingPlanVersion, (typeof OWN_MEMBERS)[number]>): OwnMembers =>
  Object.fromEntries(OWN_MEMBERS.flatMap(name => (row[name] ? [[name, toFile(row[name], new Map())]] : [])))

/** Throws INVALID_OPERATION naming a resource that has no reference to be named by. */
export function catalogFile(stored: StoredCatalog): CatalogDocument {
  const versionEntry = ({ id, version, status, ...own }: PricingPlanVersion): VersionEntry => ({
    version,
    status,
    ...ownMembers(own),
    ...(stored.groups.has(id) ? { pricing_groups: groupEntries(stored, id) } : {}),
    pricings: pricingEntries(stored, id),
  })
  const sections = SECTION_NAMES.map(section => {
    const entries = parentsFirst(stored.rows.get(section) ?? [])
      .filter(row => isForAll(row) && (section !== VARIABLES || referenceOf(section, row) !== null))
      .map(row => {
        const entry = { ...entryOf(resourceIn(stored, section), row, stored), reference: named(section, row) }
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
