// Resources of modules above that a module below names by their object type: `expand[]` shows them, and filters find them by reference.
import type { ReadUow } from '../../shared/database/database.ts'
import type { TypeAbove } from '../list/filter.ts'
import type { Expansion, Resource } from './define-resource.ts'
import { extensionsOf, type Place } from './rules.ts'

/** Where the module of such a type puts its resource. */
export const NAMED_BELOW: Place<Resource> = { name: 'resources that modules below name' }

/** The resource itself, or the one of this object type. */
export function resourceOf<R>(uow: ReadUow, to: (() => R) | TypeAbove): R | Resource {
  if (typeof to !== 'string') return to()
  const found = extensionsOf(uow, NAMED_BELOW).find(({ objectType }) => objectType === to)
  if (!found) throw new Error(`no module extends NAMED_BELOW with ${to}, so no module below can name it`)
  return found
}

/** The object type of what an expansion shows. */
export const typeExpanded = ({ to }: Expansion): string => (typeof to === 'string' ? to : to().objectType)
