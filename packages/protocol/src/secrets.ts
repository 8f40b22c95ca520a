// Values a job may read but a log may not show.
import { Type, type Static } from 'typebox'
import { maybe } from './maybe.ts'

export const SecretResponse = Type.Object({ key: Type.String(), value: Type.String(), uuid: Type.String() })
export type SecretResponse = Static<typeof SecretResponse>

export const RepositoryTokenRequest = Type.Object({ repo_url: maybe(Type.String({ maxLength: 10_000 })) })
export type RepositoryTokenRequest = Static<typeof RepositoryTokenRequest>

export const RepositoryTokenResponse = Type.Object({ token: Type.String() })
export type RepositoryTokenResponse = Static<typeof RepositoryTokenResponse>

/** For people: how a job could get at a repository that it cannot read. Public agents do not ask. */
export const RepositoryAccessResponse = Type.Object({ message: Type.String() })
export type RepositoryAccessResponse = Static<typeof RepositoryAccessResponse>

/** The fields are checked by hand, because agents show the answers to people. */
export const WorkflowTokenRequest = Type.Object({
  repo_url: Type.Optional(Type.Unknown()),
  workflow: Type.Optional(Type.Unknown()),
  permissions: Type.Optional(Type.Unknown()),
})
export type WorkflowTokenRequest = Static<typeof WorkflowTokenRequest>
