// POST /v1/catalog/plan: what a file changes, and why it cannot. Pure: the rest of what can refuse it is found by applying it and
// keeping nothing (apply-catalog.ts).
import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../../../resource/define-resource.ts'
import type { PricingPlanVersion } from '../pricing-plans/table.ts'
import { type Difference, differences, toFile } from './entries.ts'
import { narrowed } from './narrow-differences.ts'
import { entryOf, groupEntries, OWN_MEMBERS, pricingEntries, resourceIn, type StoredCatalog } from './read-catalog.ts'
import type { CatalogChange, CatalogDocument, CatalogEntry, CatalogRefusal, VersionEntry } from './schema.ts'
import { nameOfEntry, nameOfRow, SECTION_NAMES } from './sections.ts'
import { withSortedValues } from './variables.ts'

export type CatalogDiff = { readonly changes: readonly CatalogChange[]; readonly refusals: readonly CatalogRefusal[] }

/** What the file changes of what is stored, in the order of the file. */
export function diffCatalog(stored: StoredCatalog, file: CatalogDocument): CatalogDiff {
  const changes: CatalogChange[] = []
  const refusals: CatalogRefusal[] = []
  for (const section of SECTION_NAMES) {
    const seen = new Set<string>()
    for (const [index, { versions, ...given }] of (file[section] ?? []).entries()) {
      const entry = withSortedValues(section, given)
      const at = `${section}.${index}`
      const name = nameOfEntry(section, entry)
      if (seen.has(name)) refusals.push(invalid(`${at}.reference`, 'The file has this entry already.'))
      seen.add(name)
      const row = stored.rows.get(section)?.find(each => nameOfRow(section, each) === name)
      const before: Row = row
        ? { ...entryOf(resourceIn(stored, section), row, stored), reference: entry.reference }
        : {}
      const found = differences(before, entry, stored.references)
      add(changes, { isNew: !row, section, reference: name, differences: found })
      if (section !== 'pricing_plans') continue
      const own = (row && stored.versions.get(row.id)) ?? []
      const ofVersions = diffVersions(stored, { own, given: versions ?? [], plan: entry, at: `${at}.versions` })
      changes.push(...ofVersions.changes)
      refusals.push(...ofVersions.refusals)
    }
  }
  return { changes, refusals }
}

type Versions = {
  readonly own: readonly PricingPlanVersion[]
  readonly given: readonly VersionEntry[]
  readonly plan: Pick<CatalogEntry, 'reference'>
  readonly at: string
}

function diffVersions(stored: StoredCatalog, { own, given, plan, at }: Versions): CatalogDiff {
  const changes: CatalogChange[] = []
  const refusals: CatalogRefusal[] = []
  const highest = own.at(-1)?.version ?? 0
  let last = 0
  for (const [index, entry] of given.entries()) {
    const field = `${at}.${index}`
    if (entry.version <= last)
      refusals.push(invalid(`${field}.version`, 'Versions stand in the order of their numbers.'))
    last = entry.version
    const twice = sameName(entry.pricing_groups ?? [])
    if (twice !== -1)
      refusals.push(invalid(`${field}.pricing_groups.${twice}.name`, 'The version has a group of this name already.'))
    const row = own.find(({ version }) => version === entry.version)
    if (!row && entry.version < highest) {
      const message = `A new version takes a number above ${highest}, the highest that the plan has.`
      refusals.push(invalid(`${field}.version`, message))
    }
    const found = versionDifferences(stored, row, entry)
    add(changes, {
      isNew: !row,
      section: 'pricing_plans',
      reference: `${plan.reference}@${entry.version}`,
      differences: found,
    })
    const fixed = found.find(each => each.field !== 'status')
    if (row && row.status !== 'DRAFT' && fixed) {
      const message = `Version ${entry.version} is ${row.status}, and its prices never change; add a version ${highest + 1} with the new ones.`
      const [member = ''] = fixed.field.split('.')
      refusals.push({ field: `${field}.${member}`, code: 'INVALID_OPERATION', message })
    }
  }
  return { changes, refusals }
}

const sameName = (groups: readonly { readonly name: string }[]): number =>
  groups.findIndex(({ name }, place) => groups.findIndex(other => other.name === name) < place)

/** Pricings are compared by their place. */
function versionDifferences(
  stored: StoredCatalog,
  row: PricingPlanVersion | undefined,
  { status, pricing_groups, pricings, ...own }: VersionEntry,
): Difference[] {
  const found: Difference[] =
    status !== undefined && status !== row?.status
      ? [{ field: 'status', before: row?.status ?? null, after: status }]
      : []
  for (const field of OWN_MEMBERS) {
    const [before, after] = [row?.[field] ? toFile(row[field], new Map()) : null, own[field]]
    if (after === undefined || isDeepStrictEqual(toFile(after, new Map()), before)) continue
    found.push({ field, before, after })
  }
  if (pricing_groups !== undefined)
    found.push(...groupDifferences(stored, row ? groupEntries(stored, row.id) : [], pricing_groups))
  if (pricings === undefined) return found
  const before = row ? pricingEntries(stored, row.id) : []
  for (let place = 0; place < Math.max(before.length, pricings.length); place += 1) {
    const [then, now] = [before[place], pricings[place] as Row | undefined]
    const field = `pricings.${place}`
    if (then && now) {
      const each = differences(then, now, stored.references)
      found.push(...each.map(one => ({ ...one, field: `${field}.${one.field}` })))
    } else if (!isDeepStrictEqual(then, now)) found.push({ field, before: then ?? null, after: now ?? null })
  }
  return found
}

/** Pricing groups are compared by their names. */
function groupDifferences(stored: StoredCatalog, before: readonly Row[], after: readonly Row[]): Difference[] {
  const named = (list: readonly Row[], name: unknown) => list.find(each => each['name'] === name)
  const names = new Set([...before, ...after].map(each => each['name']))
  return [...names].flatMap((name): Difference[] => {
    const [then, now] = [named(before, name), named(after, name)]
    const place = after.findIndex(each => each['name'] === name)
    const field = place === -1 ? 'pricing_groups' : `pricing_groups.${place}`
    if (!then || !now) return [{ field, before: then ?? null, after: now ?? null }]
    const each = differences(then, now, stored.references)
    return each.map(one => ({ ...one, field: `${field}.${one.field}` }))
  })
}

/** Reported whole where no part of it differs, as with a member left out that was null. */
function toldApart(difference: Difference): Difference[] {
  const parts = narrowed(difference)
  return parts.length === 0 ? [difference] : parts
}

const invalid = (field: string, message: string): CatalogRefusal => ({ field, code: 'INVALID_FIELD', message })

function add(
  changes: CatalogChange[],
  {
    isNew,
    ...change
  }: Omit<CatalogChange, 'action' | 'differences'> & {
    readonly isNew: boolean
    readonly differences: readonly Difference[]
  },
): void {
  if (!isNew && change.differences.length === 0) return
  const shown = isNew ? [...change.differences] : change.differences.flatMap(toldApart)
  changes.push({ action: isNew ? 'CREATE' : 'UPDATE', ...change, differences: shown })
}
