// Files: usage as CSV. A file only moves forward, and what moves it is its content and the worker, never a PATCH.
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field, readOnly } from '../../../resource/define-resource.ts'
import {
  Description,
  IdText,
  Name,
  Nullable,
  OneOf,
  Optional,
  Reference,
  Shape,
  Timestamp,
} from '../../../resource/shapes.ts'
import { requireAll } from '../../../resource/store.ts'
import { meterResource } from '../../catalog/meters/meter.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { fileProcessingSettingsResource } from '../file-processing-settings/file-processing-settings.ts'
import { files, type StoredFile } from './table.ts'

const FileStatusShape = OneOf(
  'CREATED',
  'TO_BE_DOWNLOADED',
  'DOWNLOADING',
  'DOWNLOADED',
  'UPLOADED',
  'IMPORTING',
  'IMPORTED',
  'TO_BE_PROCESSED',
  'PROCESSING',
  'DONE',
  'ERROR',
)
/** Room for a signature and its token. */
const LOCATION_CHARACTERS_MAX = 4_096
const Count = Type.Integer()
const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

/** What each kind of processing needs, and what would mean nothing to it. */
function checkProcessing(row: StoredFile): void {
  if (row.processing_type === 'CUSTOM') {
    refuse(
      'processing_type',
      'CUSTOM means code written for one platform, and this installation has none: use DEFAULT or SETTINGS.',
    )
  }
  const meterId = row.meter_data?.meter_id ?? null
  if (row.processing_type === 'DEFAULT') {
    if (meterId === null) refuse('meter_data.meter_id', 'A DEFAULT file is of one meter; name it.')
    if (row.file_processing_settings_id !== null) {
      refuse('file_processing_settings_id', 'A DEFAULT file has fixed columns; settings are for SETTINGS.')
    }
    return
  }
  if (row.file_processing_settings_id === null) {
    refuse('file_processing_settings_id', 'A SETTINGS file is read by its file processing settings; name them.')
  }
  if (meterId !== null) refuse('meter_data.meter_id', 'The settings name the meters of a SETTINGS file.')
}

export const fileResource = defineResource<StoredFile>({
  objectType: 'FILE',
  shapeName: 'File',
  idPrefix: 'file',
  path: 'files',
  table: files,
  fields: {
    reference: field(Reference, { create: 'required', change: 'never' }),
    file_name: field(Type.String({ pattern: '^[^\\u0000-\\u001f/\\\\]{1,255}$' }), {
      create: 'required',
      change: 'never',
    }),
    status: readOnly(FileStatusShape),
    type: field(OneOf('METER_DATA'), { create: 'required', change: 'never' }),
    name: field(Name),
    description: field(Description),
    customer_id: field(IdText('customer'), { change: 'never' }),
    processing_type: field(OneOf('DEFAULT', 'SETTINGS', 'CUSTOM'), { create: 'required', change: 'never' }),
    file_processing_settings_id: field(IdText('file processing settings'), { change: 'never' }),
    meter_data: field(
      Shape({
        meter_id: Optional(Nullable(IdText('meter'))),
        override_ingest_timestamp: Optional(Nullable(Timestamp)),
      }),
      { change: 'never' },
    ),
    content_type: field(OneOf('text/csv'), { change: 'never' }),
    download_settings: field(
      Shape({
        external_location: Type.String({
          minLength: 1,
          maxLength: LOCATION_CHARACTERS_MAX,
          description:
            'An https address the content is fetched from, without redirects. It is shown without what follows its ?, which may be a signature.',
        }),
      }),
      { change: 'never' },
    ),
    column_headers: readOnly(Type.Array(Type.String())),
    number_of_lines: readOnly(Type.Integer({ description: 'Lines after the header; known once they are imported.' })),
    message: readOnly(
      Type.String({
        description: 'Why the file is in ERROR, or why its download was broken off and when it is tried again.',
      }),
    ),
  },
  operations: ['list', 'get', 'update'],
  byReference: true,
  // A file is taken in by the time of the day.
  testClockOf: null,
  filters: {
    'statuses[]': { kind: 'oneOf', column: 'status', schema: FileStatusShape },
    customer_id: { kind: 'equals', column: 'customer_id' },
  },
  references: {
    customer_id: () => customerResource,
    file_processing_settings_id: () => fileProcessingSettingsResource,
  },
  defaults: () => ({
    status: 'CREATED' as const,
    content_type: 'text/csv',
    lines_imported: 0,
    lines_done: 0,
    lines_skipped: 0,
    lines_error: 0,
    content_bytes: 0,
    download_attempts: 0,
  }),
  check: async (uow, row) => {
    checkProcessing(row)
    const id = row.meter_data?.meter_id
    if (id != null) await requireAll(uow, meterResource, [{ id, field: 'meter_data.meter_id' }])
  },
  computed: {
    content_bytes: Count,
    lines: Type.Object(
      { imported: Count, done: Count, skipped: Count, error: Count },
      { description: 'How many lines are in each status so far.' },
    ),
  },
  derive: row => ({
    content_bytes: row.content_bytes,
    lines: {
      imported: row.lines_imported,
      done: row.lines_done,
      skipped: row.lines_skipped,
      error: row.lines_error,
    },
  }),
  fixture: {
    create: async seed => {
      const meter = await seed.make(meterResource)
      return {
        reference: seed.unique('upload'),
        file_name: 'usage.csv',
        name: seed.unique('Upload'),
        type: 'METER_DATA',
        processing_type: 'DEFAULT',
        meter_data: { meter_id: meter.id },
        content: Buffer.from('reference,customer_reference\n').toString('base64'),
      }
    },
    update: { description: 'Usage of last month.' },
  },
})
