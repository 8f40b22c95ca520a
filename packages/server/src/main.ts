// The functions behind the `millrace` commands. The command line only parses and prints. The life of a process and the
// opening of its database are in program/.
import { join } from 'node:path'
import type { Origin } from './audit/record.ts'
import { flushTokenCaches } from './auth/access-watch.ts'
import type { MemberRole } from './auth/caller.ts'
import { hashPassword } from './auth/passwords.ts'
import { scopes } from './auth/scopes.ts'
import { createSignInLink } from './auth/sign-in-links.ts'
import { restoreBackup, type Restored } from './backup/restore.ts'
import { recordBackup } from './backup/record.ts'
import { writeBackup, type Backup } from './backup/write.ts'
import { bootstrap, findSecretKeys, keepSecretKey, secretKeyFile } from './bootstrap.ts'
import { readConfig, type Config } from './config/config.ts'
import { StartupError } from './db/embedded/startup-error.ts'
import type { Db } from './db/pool.ts'
import { inTransaction } from './db/transaction.ts'
import { ApiError } from './lib/errors.ts'
import { isUuid } from './lib/ids.ts'
import { withDatabase, withExistingDatabase } from './program/with-database.ts'
import { migrateOrRefuse, refuseRunningServers } from './program/own-database.ts'
import * as retention from './program/retention.ts'
import { run, type Audience } from './program/run.ts'
import { deleteSealingKeys } from './program/sealing-keys.ts'
import {
  createAccessToken,
  type CreatedAccessToken,
  type AccessTokenRequest,
} from './resources/people/access-token/create.ts'
import * as accessTokens from './resources/people/access-token/revoke.ts'
import { createMember, type CreatedMember } from './resources/people/members/create.ts'
import * as organizations from './resources/people/organizations/create.ts'
import { updateAllowedRanges } from './resources/people/api-settings/update.ts'
import { disableFeature, enableFeature } from './resources/people/organizations/enable-feature.ts'
import type { OwnSettings } from './resources/builds/retention/rules.ts'
import * as sso from './resources/people/sso/update.ts'
import * as operators from './resources/people/user/operators.ts'
import { findCredentials } from './resources/people/user/queries.ts'

export type { Started } from './program/run.ts'
export type { OwnSettings } from './resources/builds/retention/rules.ts'

type Environment = Record<string, string | undefined>

/** True if the user can correct it, so the message is enough. Any other error is a bug. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof StartupError || error instanceof ApiError

/** Runs everything in one process. Like the two below, resolves after it was stopped. */
export async function up(env: Environment, audience: Audience): Promise<void> {
  const config = readSettings({ ...env, MILLRACE_LOG_LEVEL: env['MILLRACE_LOG_LEVEL'] || 'warn' })
  await run(config, audience, (db) => createFirst(db, config))
}

/** Creates the first organization only if its token is set: a random one would end up in the log of some replica. */
export async function serve(env: Environment, audience: Audience): Promise<void> {
  const config = readSettings(env)
  const isTokenSet = config.secrets.adminToken !== undefined
  await run({ ...config, roles: ['api'] }, audience, async (db) => {
    if (isTokenSet) await createFirst(db, config)
    return null
  })
}

export async function work(env: Environment, audience: Audience): Promise<void> {
  await run({ ...readSettings(env), roles: ['worker'] }, audience, async () => null)
}

const createFirst = (db: Db, { organizationSlug: slug, secrets }: Config) =>
  bootstrap(db, { slug, token: secrets.adminToken, agentToken: secrets.agentToken })

/** Returns the names of the applied migrations. */
export const migrateDatabase = (env: Environment): Promise<string[]> =>
  withDatabase(readSettings(env), ({ pool }) => migrateOrRefuse(pool))

/** `leftOut`: the S3 location of logs and artifacts, which are no part of the backup. */
/** `keyFile`: where the secret key is; null: in MILLRACE_SECRET_KEY. */
export async function backupTo(
  env: Environment,
  file: string,
  options: { withSecretKey: boolean },
): Promise<Backup & { leftOut: string | null; keyFile: string | null }> {
  const config = readSettings(env)
  const keys = options.withSecretKey ? findSecretKeys(config.dataDir, config.secrets.keys) : null
  if (keys?.length === 0) {
    throw new StartupError(
      `There is no secret key in ${config.dataDir}: set MILLRACE_SECRET_KEY as the server has it, or do without.`,
    )
  }
  const secretKey = keys?.join(',') ?? null
  const backup = await withExistingDatabase(config, async ({ pool }) => {
    const written = await writeBackup(pool, file, { blobsDir: blobsDir(config), secretKey })
    await recordBackup(pool, written.bytes)
    return written
  })
  const { blobs } = config
  return {
    ...backup,
    leftOut: blobs.kind === 's3' ? `s3://${blobs.bucket}/${blobs.prefix}` : null,
    keyFile: config.secrets.keys === undefined ? secretKeyFile(config.dataDir) : null,
  }
}

export async function restoreFrom(env: Environment, file: string): Promise<Restored> {
  const config = readSettings(env)
  return withDatabase(config, async ({ db, pool }) => {
    await refuseRunningServers(pool)
    const restored = await restoreBackup(pool, file, {
      blobsDir: blobsDir(config),
      takeSecretKey: (key) => keepSecretKey(config.dataDir, config.secrets.keys, key),
    })
    await migrateOrRefuse(pool)
    if (!restored.secret_key) await deleteSealingKeys(db)
    return restored
  })
}

export const createOrganization = (
  env: Environment,
  organization: { slug: string; name: string; emoji: string | null },
): Promise<{ id: string; slug: string; name: string; emoji: string | null }> =>
  withDatabase(readSettings(env), async ({ db, pool }) => {
    await migrateOrRefuse(pool)
    return organizations.createOrganization(db, operator('org create'), organization)
  })

/** Returns the features that are on afterwards. */
export const setFeatures = (
  env: Environment,
  slug: string,
  features: readonly { name: string; isOn: boolean }[],
): Promise<string[]> =>
  administer(env, (db) =>
    inTransaction(db, async (trx) => {
      let after: string[] = []
      for (const { name, isOn } of features) {
        const update = isOn ? enableFeature : disableFeature
        after = await update(trx, operator('org set'), slug, name)
      }
      return after
    }),
  )

/** null: API requests may come from anywhere. Returns the ranges as they are stored. */
export const setIpRanges = (env: Environment, slug: string, ranges: string | null): Promise<string | null> =>
  administer(env, (db) => updateAllowedRanges(db, operator('org set'), slug, ranges))

/** For administrators who have locked themselves out. */
export const disableSso = (env: Environment, slug: string): Promise<void> =>
  administer(env, (db) => sso.disableSso(db, operator('sso disable'), slug))

interface UserRequest {
  email: string
  name: string
  organization: string
  role: MemberRole
  password: string | null
}

export async function createUser(env: Environment, request: UserRequest): Promise<CreatedMember> {
  const { email, name, organization: organizationSlug, role, password } = request
  const passwordHash = password === null ? null : await hashPassword(password)
  return administer(env, (db) =>
    createMember(db, operator('user create'), { email, name, organizationSlug, role, passwordHash }),
  )
}

/** The address of a page that signs the person in once, within 24 hours. */
export const createSignInUrl = (env: Environment, email: string): Promise<{ email: string; url: string }> =>
  administer(env, async (db, config) => {
    const user = await findCredentials(db, email)
    if (user === undefined) throw new StartupError(`There is no user "${email}".`)
    const code = await createSignInLink(db, user.id)
    return { email, url: `${config.url}/sign-in?code=${code}` }
  })

/** The scope `all` becomes all scopes of this version. */
export const createToken = (env: Environment, request: AccessTokenRequest): Promise<CreatedAccessToken> =>
  administer(env, (db) =>
    createAccessToken(db, operator('token create'), {
      ...request,
      scopes: request.scopes.includes('all') ? scopes : request.scopes,
    }),
  )

export async function revokeToken(env: Environment, id: string): Promise<void> {
  if (!isUuid(id)) throw new StartupError(`"${id}" is not the id of a token: it looks like ${exampleId}.`)
  await administer(env, (db) => accessTokens.revokeAccessToken(db, operator('token revoke'), id))
}

export const showRetention = (env: Environment, of: retention.RetentionOf) =>
  administer(env, (db, config) => retention.showRetention(config, db, of))

export const setRetention = (env: Environment, of: retention.RetentionOf, settings: Partial<OwnSettings>) =>
  administer(env, (db, config) => retention.setRetention(config, db, operator('retention set'), of, settings))

export const previewRetention = (
  env: Environment,
  of: retention.RetentionOf,
  settings: Partial<OwnSettings>,
) => administer(env, (db, config) => retention.previewRetention(config, db, of, settings))

export const runRetention = (env: Environment, of: retention.RetentionOf, stopping: AbortSignal) =>
  administer(env, (db, config) => retention.runRetention(config, db, of, stopping))

export const listArchives = (env: Environment, of: retention.PipelineName, limit: number) =>
  administer(env, (db, config) => retention.listArchives(config, db, of, limit))

export const showArchive = (env: Environment, of: retention.PipelineName, build: string) =>
  administer(env, (db, config) => retention.showArchive(config, db, of, build))

export const addOperator = (env: Environment, email: string): Promise<void> =>
  administer(env, (db) => operators.addOperator(db, operator('user operator'), email))

export const removeOperator = (env: Environment, email: string): Promise<void> =>
  administer(env, (db) => operators.removeOperator(db, operator('user operator'), email))

const exampleId = '0199f2c4-7d1e-7a53-9c0b-2f6f4f0a8d11'

const operator = (command: string): Origin => ({ kind: 'operator', command })

function readSettings(env: Environment): Config {
  const read = readConfig(env)
  if (!read.ok) throw new StartupError(read.problems.join('\n'))
  return read.config
}

function administer<T>(env: Environment, verb: (db: Db, config: Config) => Promise<T>): Promise<T> {
  const config = readSettings(env)
  return withExistingDatabase(config, async ({ db, pool }) => {
    await migrateOrRefuse(pool)
    const done = await verb(db, config)
    await flushTokenCaches(db)
    return done
  })
}

const blobsDir = ({ dataDir }: Config) => join(dataDir, 'blobs')
