// POST /v1/catalog/apply: brings the catalog to what a file says, in one unit of work, by the commands that change each resource. What
// the file does not have stays as it is.
import type { Static } from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { validatorCompiler } from '../../../http/body/validation.ts'
import { changeStatus, createResource, deleteResource, saveChange, updateResource } from '../../../resource/commands.ts'
import type { Resource, Row, StatusRules, StoredRow } from '../../../resource/define-resource.ts'
import { groupsOf } from '../pricing-groups/load-groups.ts'
import type { PricingGroup } from '../pricing-groups/table.ts'
import { pricingResource } from '../pricing-plans/pricing.ts'
import { pricingPlanVersionResource } from '../pricing-plans/pricing-plan-version.ts'
import { pricingGroupResource } from '../pricing-plans/selection/pricing-group.ts'
import type { PricingPlanVersion } from '../pricing-plans/table.ts'
import { differences, inFile, type Names, toBody } from './entries.ts'
import { diffCatalog } from './plan-catalog.ts'
import { entryOf, OWN_MEMBERS, pricingEntries, readCatalog, resourceIn, type StoredCatalog } from './read-catalog.ts'
import type { CatalogChange, CatalogDocument, CatalogEntry, VersionEntry } from './schema.ts'
import { nameOfEntry, nameOfRow, SECTION_NAMES, type Section } from './sections.ts'
import { applyVariable, VARIABLES, VariableEntry, withSortedValues } from './variables.ts'

/** Ids by reference, which grow as entries are created. */
type Known = Map<Section, Map<string, string>>
/** What is done once everything is in force: entries are put out of use, those that name others first. */
type Ending = () => Promise<unknown>

/**
 * What changed. A second apply of the same file changes nothing. Throws the refusal of the first entry that cannot be as the file
 * says, with its path in the file; then nothing is kept.
 */
export async function applyCatalog(uow: Uow, file: CatalogDocument): Promise<CatalogChange[]> {
  const stored = await readCatalog(uow)
  const { changes, refusals } = diffCatalog(stored, file)
  const [refusal] = refusals
  if (refusal) {
    const code = refusal.code === 'INVALID_OPERATION' ? 'INVALID_OPERATION' : 'INVALID_FIELD'
    throw new AppError(code, refusal.message, { field: refusal.field })
  }
  const known: Known = new Map([...stored.ids].map(([section, names]) => [section, new Map(names)]))
  const endings: Ending[] = []
  for (const section of SECTION_NAMES) {
    for (const [index, { versions, ...entry }] of (file[section] ?? []).entries()) {
      const at = `${section}.${index}`
      const of = { stored, known, section, entry, at, endings }
      const row = await placed(at, () => applyEntry(uow, of))
      known.get(section)?.set(entry.reference, row.id)
      for (const [place, version] of (versions ?? []).entries()) {
        const path = `${at}.versions.${place}`
        await placed(path, () => applyVersion(uow, { stored, known, planId: row.id, version, at: path, endings }))
      }
    }
  }
  for (const end of endings.toReversed()) await end()
  return [...changes]
}

/** Refusals name their place in the file. */
async function placed<T>(at: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { field } = error.details
    const path = field?.startsWith(`${at}.`) ? field : [at, field].filter(part => part !== undefined).join('.')
    throw new AppError(error.code, error.message, { ...error.details, field: inFile(path), cause: error })
  }
}

type EntryOf = {
  readonly stored: StoredCatalog
  readonly known: Names
  readonly section: Section
  readonly entry: CatalogEntry
  readonly at: string
  readonly endings: Ending[]
}

async function applyEntry(uow: Uow, of: EntryOf): Promise<StoredRow> {
  const { stored, known, section, entry, at, endings } = of
  const resource = resourceIn(stored, section)
  const { status, ...rest } = entry as Row
  const name = nameOfEntry(section, entry)
  const row = stored.rows.get(section)?.find(each => nameOfRow(section, each) === name)
  if (section === VARIABLES) {
    const body = checked(VariableEntry, toBody(withSortedValues(section, entry), known, at) as Row)
    return await applyVariable(uow, row, body as Static<typeof VariableEntry>)
  }
  const target = typeof status === 'string' ? status : null
  if (!row) {
    const body = checked(resource.createBody, {
      ...asNamed(section, toBody(rest, known, at) as Row),
      ...first(resource, status),
    })
    const created = await createResource(uow, resource, body)
    return await moved(uow, { resource, row: created, target, at, endings })
  }
  const before = { ...entryOf(resource, row, stored), reference: entry.reference }
  const changed = differences(before, rest, stored.references).map(({ field }) => field)
  const patch = Object.fromEntries(Object.entries(rest).filter(([name]) => changed.includes(name)))
  const body = toBody(patch, known, at) as Row
  const updated =
    changed.length === 0 ? row : await updateResource(uow, resource, row.id, checked(resource.updateBody, body))
  return await moved(uow, { resource, row: updated, target, at, endings })
}

/** The reference of a promotion code in a file is its code. */
function asNamed(section: Section, body: Row): Row {
  if (section !== 'promotion_codes') return body
  const { reference, ...rest } = body
  return { ...rest, code: reference }
}

/** A new entry starts as DRAFT or ACTIVE; a status of another kind is refused by its shape. */
function first({ statuses }: Resource, status: unknown): Row {
  if (status === undefined) return {}
  if (!statuses) return { status }
  return { status: status === 'DRAFT' || !(String(status) in statuses) ? status : 'ACTIVE' }
}

type Move<R extends StoredRow> = {
  readonly resource: Resource<R>
  readonly row: R
  readonly target: string | null
  readonly at: string
  readonly endings: Ending[]
}

/** Puts a row in force now, and out of use at the end. */
async function moved<R extends StoredRow>(uow: Uow, { resource, row, target, at, endings }: Move<R>): Promise<R> {
  const from = String((row as Row).status)
  if (target === null || target === from || !resource.statuses) return row
  const steps = pathOf(resource.statuses, from, target)
  if (!steps) {
    const message = `What is ${from} cannot become ${target}.`
    throw new AppError('INVALID_OPERATION', message, { field: 'status', resourceId: row.id })
  }
  let now = row
  const until = steps.lastIndexOf('ACTIVE') + 1
  for (const step of steps.slice(0, until)) now = await changeStatus(uow, resource, row.id, step)
  for (const step of steps.slice(until).toReversed())
    endings.push(() => placed(at, () => changeStatus(uow, resource, row.id, step)))
  return now
}

/** The statuses that lead from one to another; null when none do. */
function pathOf(rules: StatusRules, from: string, to: string): string[] | null {
  const paths = new Map<string, string[]>([[from, []]])
  for (const [status, path] of paths) {
    if (status === to) return path
    for (const [next, allowed] of Object.entries(rules)) {
      if (allowed.includes(status) && !paths.has(next)) paths.set(next, [...path, next])
    }
  }
  return null
}

type VersionOf = {
  readonly stored: StoredCatalog
  readonly known: Names
  readonly planId: string
  readonly version: VersionEntry
  readonly at: string
  readonly endings: Ending[]
}

async function applyVersion(
  uow: Uow,
  { stored, known, planId, version: entry, at, endings }: VersionOf,
): Promise<void> {
  const found = stored.versions.get(planId)?.find(({ version }) => version === entry.version)
  const row = await withOwnMembers(uow, found ?? (await newVersion(uow, planId, entry.version)), entry)
  if (row.status === 'DRAFT') {
    if (entry.pricing_groups) await applyGroups(uow, { stored, row, given: entry.pricing_groups })
    if (entry.pricings) {
      const groups = await groupsOf(uow, [row.id])
      await applyPricings(uow, { stored, known, row, groups, given: entry.pricings })
    }
    // At last: a group goes once no pricing is in it.
    if (entry.pricing_groups) await removeGroups(uow, row, entry.pricing_groups)
  }
  const resource = pricingPlanVersionResource
  await moved(uow, { resource, row, target: entry.status ?? null, at, endings })
}

/** A DRAFT with what the file says of it: from when it is in force, and what it is sold in. */
async function withOwnMembers(uow: Uow, row: PricingPlanVersion, entry: VersionEntry): Promise<PricingPlanVersion> {
  const given = Object.fromEntries(
    OWN_MEMBERS.flatMap(name => (entry[name] === undefined ? [] : [[name, entry[name]]])),
  )
  if (row.status !== 'DRAFT' || Object.keys(given).length === 0) return row
  return await updateResource(uow, pricingPlanVersionResource, row.id, given)
}

/** A version keeps the number it has in the file, so that schedules and people mean the same by it everywhere. */
async function newVersion(uow: Uow, planId: string, version: number): Promise<PricingPlanVersion> {
  const row = await createResource(uow, pricingPlanVersionResource, { pricing_plan_id: planId })
  return row.version === version ? row : await saveChange(uow, pricingPlanVersionResource, row, { version })
}

type Groups = {
  readonly stored: StoredCatalog
  readonly row: PricingPlanVersion
  readonly given: readonly (Row & { readonly name: string })[]
}

/** Groups of a DRAFT keep their ids by their names. */
async function applyGroups(uow: Uow, { stored, row, given }: Groups): Promise<void> {
  for (const [place, entry] of given.entries()) {
    await placed(`pricing_groups.${place}`, async () => {
      const group = stored.groups.get(row.id)?.find(({ name }) => name === entry.name)
      if (!group) {
        const body = checked(pricingGroupResource.createBody, { ...entry, pricing_plan_version_id: row.id })
        await createResource(uow, pricingGroupResource, body)
        return
      }
      const changed = differences(entryOf(pricingGroupResource, group, stored), entry, stored.references)
      const patch = Object.fromEntries(changed.map(({ field }) => [field, entry[field]]))
      if (changed.length > 0)
        await updateResource(uow, pricingGroupResource, group.id, checked(pricingGroupResource.updateBody, patch))
    })
  }
}

/** Removes the groups that the file leaves out of a list that it has. */
async function removeGroups(uow: Uow, row: PricingPlanVersion, given: Groups['given']): Promise<void> {
  for (const { id, name } of await groupsOf(uow, [row.id])) {
    if (!given.some(each => each.name === name)) await deleteResource(uow, pricingGroupResource, id)
  }
}

type Pricings = {
  readonly stored: StoredCatalog
  readonly known: Names
  readonly row: PricingPlanVersion
  readonly groups: readonly PricingGroup[]
  readonly given: readonly object[]
}

/** Pricings of a DRAFT keep their ids by their place. */
async function applyPricings(uow: Uow, { stored, known, row, groups, given }: Pricings): Promise<void> {
  const there = stored.pricings.get(row.id) ?? []
  const entries = pricingEntries(stored, row.id)
  for (const [place, entry] of given.entries()) {
    const at = `pricings.${place}`
    await placed(at, async () => {
      const before = entries[place]
      const pricing = there[place]
      if (!pricing || !before) {
        const own = toBody(withGroup(entry as Row, groups), known, at) as Row
        const body = { ...own, pricing_plan_version_id: row.id }
        await createResource(uow, pricingResource, checked(pricingResource.createBody, body))
        return
      }
      const changed = differences(before, entry as Row, stored.references).map(({ field }) => field)
      if (changed.length === 0) return
      const patch = Object.fromEntries(Object.entries(entry).filter(([name]) => changed.includes(name)))
      const body = checked(pricingResource.updateBody, toBody(withGroup(patch, groups), known, at) as Row)
      await updateResource(uow, pricingResource, pricing.id, body)
    })
  }
  for (const surplus of there.slice(given.length)) await deleteResource(uow, pricingResource, surplus.id)
}

/** An entry of a pricing with the id of its group for the group's name. Throws RESOURCE_NOT_FOUND for a name that no group has. */
function withGroup({ pricing_group: name, ...entry }: Row, groups: readonly PricingGroup[]): Row {
  if (name === undefined) return entry
  if (name === null) return { ...entry, pricing_group_id: null }
  const group = groups.find(each => each.name === name)
  if (group) return { ...entry, pricing_group_id: group.id }
  const message = `The version has no pricing group ${JSON.stringify(name)}; add it to pricing_groups.`
  throw new AppError('RESOURCE_NOT_FOUND', message, { field: 'pricing_group' })
}

/** The body, as the call that takes it would check it. Throws INVALID_FIELD or MISSING_FIELD with the path. */
function checked(schema: Resource['createBody'], body: Row): Row {
  const answer = validatorCompiler({ schema })(body)
  if (answer !== true) throw answer.error
  return body
}
