// Resources of modules above the catalog, or beside it, that have a section in the catalog file (api/modules/catalog/as-code).
import type { Resource } from './define-resource.ts'
import type { Place } from './rules.ts'

export const ADDED_SECTIONS = ['custom_fields', 'wallet_types', 'coupons', 'promotion_codes'] as const
export type AddedSection = (typeof ADDED_SECTIONS)[number]
export type FileSection = { readonly section: AddedSection; readonly resource: Resource }

export const FILE_SECTIONS: Place<FileSection> = { name: 'sections of the catalog file' }
