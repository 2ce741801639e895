// What the value of a setting may be: each takes the text of an environment variable and gives its value, or throws ConfigFault.
import { isIP } from 'node:net'
import { parseUrl } from '../parse-url.ts'

/** What is wrong with a value, to follow its name. */
export class ConfigFault extends Error {}

/** Any text. */
export const text = (text: string): string => text
/** One of these. */
export const choice =
  <const T extends readonly string[]>(...options: T) =>
  (value: string): T[number] => {
    if (!options.includes(value)) throw new ConfigFault(`must be one of ${options.join(', ')}`)
    return value as T[number]
  }
/** A whole number of these bounds, which count too. */
export const integer =
  (from: number, to: number) =>
  (value: string): number => {
    const number = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= from && number <= to)) throw new ConfigFault(`must be a whole number from ${from} to ${to}`)
    return number
  }
/** An address with one of these protocols, such as `https:`; without a slash at its end. */
export const url =
  (...protocols: string[]) =>
  (value: string): string => {
    const parsed = parseUrl(value)
    if (!parsed || !protocols.includes(parsed.protocol))
      throw new ConfigFault(`must be a URL with ${protocols.join(' or ')}`)
    return value.replace(/\/$/, '')
  }
/** The name of one folder. */
export const folderName = (value: string): string => {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value))
    throw new ConfigFault('must be letters, digits, dots, dashes and underscores, at most 64')
  return value
}
/** Several, separated by commas; none for the empty text. */
export const list =
  <T>(parse: (value: string) => T) =>
  (value: string): readonly T[] =>
    value === '' ? [] : value.split(',').map(part => parse(part.trim()))
/** At least 32 characters. */
export const secret = (value: string): string => {
  if (value.length < 32) throw new ConfigFault('must have at least 32 characters')
  return value
}
/** Private-use schemes, separated by commas. */
export const schemes = (value: string): string[] => {
  const list = value.split(',').filter(scheme => scheme !== '')
  // A private-use scheme is a domain name turned round (RFC 8252 section 7.1), so it has a dot and is nobody else's.
  if (!list.every(scheme => /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$/.test(scheme)))
    throw new ConfigFault('must be schemes like com.example.app')
  return list
}
/** An address of mail, with or without a name. */
export const mailAddress = (value: string): string => {
  if (!/^(?:[^<>@"\p{Cc}]*<[^\s<>@",;]+@[^\s<>@",;]+>|[^\s<>@",;]+@[^\s<>@",;]+)$/u.test(value))
    throw new ConfigFault('must be an address like billing@example.com or Billing <billing@example.com>')
  return value
}
/** An address or a network. */
export const network = (value: string): string => {
  const [address = '', bits, ...rest] = value.split('/')
  const family = isIP(address)
  const most = family === 6 ? 128 : 32
  if (family === 0 || rest.length > 0 || (bits !== undefined && !(/^[0-9]{1,3}$/.test(bits) && Number(bits) <= most)))
    throw new ConfigFault('must be addresses or networks like 10.0.0.5 or 10.0.0.0/8')
  return value
}
/** A host with its port. */
export const hostAndPort = (value: string): string => {
  const port = /:([0-9]{1,5})$/.exec(value)?.[1]
  const url = parseUrl(`http://${value}`)
  if (port === undefined || Number(port) > 65_535 || url === null || /[/?#@*\\]/.test(value))
    throw new ConfigFault('must be hosts with their port, like files.internal:8443 or [fd00::5]:443')
  return `${url.hostname}:${Number(port)}`
}
/** Null for the empty text. */
export const optional =
  <T>(parse: (value: string) => T) =>
  (value: string): T | null =>
    value === '' ? null : parse(value)
