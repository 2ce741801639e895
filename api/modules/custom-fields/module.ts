// What a platform records of its resources beyond their own fields.
import { FILE_SECTIONS } from '../../resource/file-sections.ts'
import { extend } from '../../resource/rules.ts'
import { defineModule } from '../define-module.ts'
import { customFieldResource } from './custom-field.ts'
import { CUSTOM_FIELD_EVENTS } from './events.ts'

export const customFields = defineModule({
  name: 'custom-fields',
  events: [CUSTOM_FIELD_EVENTS],
  resources: [customFieldResource],
  extensions: [extend(FILE_SECTIONS, { section: 'custom_fields', resource: customFieldResource })],
})
