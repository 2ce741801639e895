// What `expand[]` shows of modules above: a resource names the object type, and the module of that type puts its resource here.
import type { ReadUow } from '../../../shared/database/database.ts'
import type { Expansion, Resource } from '../define-resource.ts'
import { extensionsOf, type Place } from '../rules.ts'

export const EXPANDED: Place<Resource> = { name: 'resources that expand[] of modules below shows' }

/** The object type of what an expansion shows. */
export const typeExpanded = ({ to }: Expansion): string => (typeof to === 'string' ? to : to().objectType)

/** The resource that an expansion shows. */
export function resourceExpanded(uow: ReadUow, { to }: Expansion): Resource {
  if (typeof to !== 'string') return to()
  const found = extensionsOf(uow, EXPANDED).find(({ objectType }) => objectType === to)
  if (!found) throw new Error(`no module extends EXPANDED with ${to}, so it cannot be expanded`)
  return found
}
