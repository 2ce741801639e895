// The few bodies that are not JSON.
import type { JsonObject } from './json.ts'

const BYTES: JsonObject = { type: 'string', format: 'binary' }

/** Answers of other media types, by operation id. */
export const MEDIA_TYPES: Readonly<Record<string, JsonObject>> = {
  invoices_factur_x_read: { 'application/pdf': { schema: BYTES } },
  invoices_pdf_read: { 'application/pdf': { schema: BYTES } },
  invoices_ubl21_read: { 'application/xml': { schema: BYTES } },
  meters_meter_data_file_read: { 'text/csv': { schema: { type: 'string' } } },
}

/** Requests of other media types, by operation id. */
export const UPLOADS: Readonly<Record<string, JsonObject>> = {
  files_content_set: {
    required: true,
    description: 'The CSV, in UTF-8, with a header line.',
    content: { 'text/csv': { schema: BYTES } },
  },
}
