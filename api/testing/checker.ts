// Checks values against the shapes of the API description, as an outside validator does.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../description/json.ts'

/** A function that gives what is wrong with a value as a shape, or null. */
export function createChecker(description: JsonObject): (shape: string, value: Json | unknown) => string | null {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema({ ...description, $id: 'api' })
  return (shape, value) => {
    const check = ajv.getSchema(`api#/components/schemas/${shape}`)
    if (!check) return `there is no shape ${shape}`
    return check(value) ? null : ajv.errorsText(check.errors)
  }
}
