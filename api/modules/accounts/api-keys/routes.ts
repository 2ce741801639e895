// The calls on API keys that are more than the shared operations.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { IdParams } from '../../../http/params.ts'
import type { DeclaredPermissions } from '../../../http/permissions.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { Description, Nullable, Optional, Shape } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { apiKeyResource, KeyRole, KeyType, OriginalUserIds } from './api-key.ts'
import { changeKey } from './change-key.ts'
import { createKey } from './create-key.ts'
import { searchKeys } from './search-keys.ts'

const PATH = '/v1/api-keys'
const tag = apiKeyResource.path
const response = apiKeyResource.view

const CreateBody = Shape({
  type: Optional(Nullable(KeyType)),
  role_type: Optional(Nullable(KeyRole)),
  description: Optional(Nullable(Description)),
  original_user_ids: Optional(Nullable(OriginalUserIds)),
})
const ChangeBody = Shape({
  description: Optional(Nullable(Description)),
  active: Optional(Type.Boolean({ description: 'False ends the key for good.' })),
  original_user_ids: Optional(Nullable(OriginalUserIds)),
})
const SearchBody = Shape({
  resource_id: Optional(
    Nullable(Type.String({ maxLength: 255, description: 'The id of the key, or how it begins (display_prefix).' })),
  ),
  username: Optional(Nullable(Type.String({ maxLength: 320, description: 'The user who made it.' }))),
  user_type: Optional(Nullable(KeyType)),
  include_inactive: Optional(Nullable(Type.Boolean())),
})

export function apiKeyRoutes(app: FastifyInstance, deps: RouteDeps, declared: DeclaredPermissions): void {
  writeRoute(app, deps, {
    tag,
    permission: 'API_KEY.CREATE',
    summary: 'Create an API key. Its text is shown in this answer only.',
    method: 'POST',
    url: PATH,
    body: CreateBody,
    response,
    status: 201,
    repeatOf: answer => ({ ...(answer as object), api_key: null }),
    handle: (uow, { body }) => createKey(uow, body, declared),
  })
  changeRoutes(app, deps, declared)
  readRoute(app, deps, {
    tag,
    permission: 'API_KEY.VIEW',
    summary: 'Find the newest API key that matches everything given.',
    method: 'POST',
    url: `${PATH}/search`,
    body: SearchBody,
    response,
    handle: (uow, { body }) => searchKeys(uow, body),
  })
  readRoute(app, deps, {
    tag,
    permission: 'API_KEY.VIEW',
    summary: 'Read the text of an API key: always refused, since a key is shown once, when it is created.',
    method: 'GET',
    url: `${PATH}/:id/decrypt`,
    params: IdParams,
    response,
    handle: async (uow, { params }) => {
      await getOne(uow, apiKeyResource, params.id)
      const message =
        'A key is shown once, when it is made; nobody can read it again. Make another one and end this one.'
      throw new AppError('INVALID_OPERATION', message)
    },
  })
}

function changeRoutes(app: FastifyInstance, deps: RouteDeps, declared: DeclaredPermissions): void {
  writeRoute(app, deps, {
    tag,
    permission: 'API_KEY.UPDATE',
    summary: 'Change an API key, or revoke it with active=false.',
    method: 'PATCH',
    url: `${PATH}/:id`,
    params: IdParams,
    body: ChangeBody,
    response,
    status: 200,
    handle: (uow, { params, body }) => changeKey(uow, params.id, body, declared),
  })
  writeRoute(app, deps, {
    tag,
    permission: 'API_KEY.UPDATE',
    summary: 'Revoke an API key for good.',
    method: 'POST',
    url: `${PATH}/:id/revoke`,
    params: IdParams,
    response,
    status: 200,
    handle: (uow, { params }) => changeKey(uow, params.id, { active: false }, declared),
  })
}
