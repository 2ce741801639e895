// Creates and changes webhooks: checks the address, checks and seals credentials, and clears the reason for which the
// service disabled it.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { judgeUrl, type OutboundPolicy, RefusedAddress } from '../../../../shared/outbound/judge-url.ts'
import { seal, unseal } from '../../../../shared/secrets/seal.ts'
import { createResource, updateResource } from '../../../resource/commands.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { lockExisting } from '../../../resource/store.ts'
import { SEALED_FOR } from '../request/request.ts'
import { MASK } from '../schema.ts'
import type { AuthenticationType, Webhook } from '../table.ts'
import { webhookResource } from '../webhook.ts'
import { headerNameFault, isHeaderValue } from './header-name.ts'

export type SettingsDeps = { readonly outbound: OutboundPolicy; readonly dataSecret: string }

/** As given in a body; null clears. */
export type WebhookBody = Row & {
  readonly url?: string
  readonly active?: boolean | null
  readonly authentication_type?: AuthenticationType | null
  readonly username?: string | null
  readonly password?: string | null
  readonly api_header_field?: string | null
  readonly api_key?: string | null
}

/** Most webhooks of a tenant: every change is matched against each. */
const WEBHOOKS_MAX = 100
/** Half of an advisory lock; the other half is the tenant. */
const COUNT_LOCK = 7_243_131

const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

/** Throws INVALID_FIELD, MISSING_FIELD or INVALID_OPERATION with the field. */
export async function createWebhook(deps: SettingsDeps, uow: Uow, body: WebhookBody): Promise<Webhook> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`select pg_advisory_xact_lock(${COUNT_LOCK}, hashtext(${`${platformId} ${environment}`}))`)
  const { rows } = await uow.tx.execute<{ count: number }>(
    sql`select count(*)::int as count from webhooks where platform_id = ${platformId} and environment = ${environment}`,
  )
  if ((rows[0]?.count ?? 0) >= WEBHOOKS_MAX) {
    throw new AppError('INVALID_OPERATION', `There are ${WEBHOOKS_MAX} webhooks already; delete one first.`)
  }
  return await createResource(uow, webhookResource, await settingsRow(deps, body, null))
}

/**
 * Like `createWebhook`. A webhook that is set to active again loses its `disabled_reason` (contract: states of a
 * webhook).
 */
export async function updateWebhook(
  deps: SettingsDeps,
  uow: Uow,
  idOrReference: string,
  body: WebhookBody,
): Promise<Webhook> {
  const previous = await lockExisting(uow, webhookResource, idOrReference)
  const row = await settingsRow(deps, body, previous)
  const again = body.active === true || body.active === null ? { disabled_reason: null } : {}
  return await updateResource(uow, webhookResource, previous.id, { ...row, ...again })
}

/** The row of a webhook that is tested before it is saved. */
export async function unsavedWebhook(deps: SettingsDeps, body: WebhookBody): Promise<Partial<Webhook>> {
  return await settingsRow(deps, body, null)
}

async function settingsRow(deps: SettingsDeps, body: WebhookBody, previous: Webhook | null): Promise<Row> {
  const { password: _password, api_key: _key, ...plain } = body
  if (body.url !== undefined) checkUrl(body.url, deps.outbound)
  return { ...plain, ...(await credentialColumns(deps.dataSecret, body, previous)) }
}

function checkUrl(url: string, policy: OutboundPolicy): void {
  try {
    judgeUrl(url, policy)
  } catch (error) {
    if (error instanceof RefusedAddress) refuse('url', error.message)
    throw error
  }
}

const OF_TYPE = {
  PASSWORD: ['username', 'password'],
  API_KEY: ['api_header_field', 'api_key'],
  NONE: [],
} as const
const CREDENTIALS = [...OF_TYPE.PASSWORD, ...OF_TYPE.API_KEY] as const
type CredentialField = (typeof CREDENTIALS)[number]

/** The columns of the credentials: checks those of the type in use, and clears the others. */
async function credentialColumns(
  secret: string,
  body: WebhookBody,
  previous: Webhook | null,
): Promise<Partial<Webhook>> {
  const given = CREDENTIALS.filter(field => body[field] !== undefined && body[field] !== null)
  if (body.authentication_type === undefined && CREDENTIALS.every(field => body[field] === undefined)) return {}
  const type = body.authentication_type ?? typeOf(given, previous)
  const own: readonly CredentialField[] = OF_TYPE[type]
  const foreign = given.find(field => !own.includes(field))
  if (foreign !== undefined) refuse(foreign, `${foreign} is not used with authentication_type ${type}; leave it out.`)
  for (const field of given) checkCredential(field, String(body[field]))
  const sealed = (field: 'password' | 'api_key') =>
    sealedValue(secret, body[field], previous?.[`${field}_sealed`] ?? null)
  const columns: Partial<Webhook> = {
    authentication_type: type,
    username: type === 'PASSWORD' ? orKept(body.username, previous?.username) : null,
    password_sealed: type === 'PASSWORD' ? await sealed('password') : null,
    api_header_field:
      type === 'API_KEY' ? (orKept(body.api_header_field, previous?.api_header_field) ?? 'X-API-KEY') : null,
    api_key_sealed: type === 'API_KEY' ? await sealed('api_key') : null,
  }
  const needed = { username: columns.username, password: columns.password_sealed, api_key: columns.api_key_sealed }
  for (const [field, value] of Object.entries(needed)) {
    if (!own.some(each => each === field) || value !== null) continue
    throw new AppError('MISSING_FIELD', `authentication_type ${type} needs ${field}.`, { field })
  }
  return columns
}

/** A body without a type gets the type of the credentials in it. */
function typeOf(given: readonly CredentialField[], previous: Webhook | null): AuthenticationType {
  const types = (['PASSWORD', 'API_KEY'] as const).filter(type => OF_TYPE[type].some(field => given.includes(field)))
  if (types.length > 1)
    refuse('authentication_type', 'Give the credentials of one type: username and password, or api_key.')
  return types[0] ?? previous?.authentication_type ?? 'NONE'
}

const orKept = (given: string | null | undefined, before: string | null | undefined): string | null =>
  given === undefined ? (before ?? null) : given

/** Sealed again only when the value differs, so that an unchanged value writes nothing. */
async function sealedValue(
  secret: string,
  given: string | null | undefined,
  before: string | null,
): Promise<string | null> {
  if (given === undefined) return before
  if (given === null) return null
  if (before !== null && (await unseal(secret, SEALED_FOR, before)) === given) return before
  return await seal(secret, SEALED_FOR, given)
}

function checkCredential(field: CredentialField, value: string): void {
  if (value === MASK && field !== 'username')
    refuse(field, `${MASK} only stands for what is set; leave ${field} out to keep it.`)
  if (field === 'api_header_field') {
    const fault = headerNameFault(value)
    if (fault !== null) refuse(field, `api_header_field ${fault}.`)
  } else if (field === 'api_key' && !isHeaderValue(value)) {
    refuse(field, 'api_key must be visible ASCII characters, with spaces only between them.')
  } else if (/\p{Cc}/u.test(value)) {
    refuse(field, `${field} must not contain control characters.`)
  } else if (field === 'username' && value.includes(':')) {
    refuse(field, 'username must not contain a colon, which ends it in basic authentication.')
  }
}
