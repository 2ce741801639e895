// What a platform records of its resources beyond their own fields.
import { FILE_SECTIONS } from '../../resource/file-sections.ts'
import { extend } from '../../resource/rules.ts'
import { defineModule, type Module } from '../define-module.ts'
import { customFieldResourceOf } from './custom-field.ts'
import { CUSTOM_FIELD_EVENTS } from './events.ts'

type Carrier = Pick<Module, 'resources' | 'withCustomFields'>

/** The module of custom fields, for those resources of `modules` that declare `customFields`. */
export function customFieldsOf(modules: readonly Carrier[]) {
  const types = modules.flatMap(({ resources = [], withCustomFields = [] }) => [
    ...resources.filter(({ customFields }) => customFields).map(({ objectType }) => objectType),
    ...withCustomFields,
  ])
  const resource = customFieldResourceOf(types)
  return defineModule({
    name: 'custom-fields',
    events: [CUSTOM_FIELD_EVENTS],
    resources: [resource],
    extensions: [extend(FILE_SECTIONS, { section: 'custom_fields', resource })],
  })
}
