// Sets, lists and deletes secrets of a cluster. Their values come from standard input or a prompt: other users can read the
// command lines of a machine, and shells store them.
import { readFileSync } from 'node:fs'
import type { Cluster, CreateSecret, Secret } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { errorCode } from '../../error-code.ts'
import { Refused } from '../../refused.ts'
import { listAll, openApi, type Api } from '../api.ts'
import { findCluster } from '../cluster.ts'
import type { ClientOptions } from '../command.ts'
import { askHidden, isInteractive, readInput } from '../prompt.ts'
import { showRows } from '../show.ts'
import { oneLine } from '../text.ts'
import { describeAge } from '../times.ts'

export interface SecretOptions extends ClientOptions {
  cluster?: string
}

export interface SetSecretOptions extends SecretOptions {
  description?: string
  policyFile?: string
}

export async function setSecret(key: string, options: SetSecretOptions): Promise<void> {
  const policy = options.policyFile === undefined ? undefined : readPolicy(options.policyFile)
  const api = await openApi(options)
  const cluster = await findCluster(api, options.cluster)
  const existing = (await listSecretsOf(api, cluster)).find((secret) => secret.key === key)
  const value = await readValue(key)
  const fields = {
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(policy === undefined ? {} : { policy }),
  }
  const path = `clusters/${cluster.id}/secrets`
  if (existing === undefined) {
    const body: CreateSecret = { key, value, ...fields }
    const created = await api.post<Secret>(path, body)
    print(options, created, `Created the secret ${oneLine(key)} in the cluster ${oneLine(cluster.name)}.`)
    return
  }
  // The rules first: the new value must not be readable by the old ones.
  if (Object.keys(fields).length > 0) await api.put<Secret>(`${path}/${existing.id}`, fields)
  const updated = await api.put<Secret>(`${path}/${existing.id}/value`, { value })
  print(options, updated, `Replaced the secret ${oneLine(key)} in the cluster ${oneLine(cluster.name)}.`)
}

export async function listSecrets(options: SecretOptions): Promise<void> {
  const api = await openApi(options)
  const cluster = await findCluster(api, options.cluster)
  const rows = await listSecretsOf(api, cluster)
  await showRows(options, rows, `The cluster ${oneLine(cluster.name)} has no secrets.`, () => [
    { title: 'Secret', text: ({ key }) => key, least: 12 },
    { title: 'Description', text: ({ description }) => description || null, least: 12 },
    { title: 'For', text: ({ policy }) => (policy === '' ? 'every job' : 'jobs of its policy') },
    { title: 'Updated', text: ({ updated_at }) => describeAge(updated_at) },
    { title: 'Last read', text: ({ last_read_at }) => describeAge(last_read_at) },
  ])
}

export async function deleteSecret(key: string, options: SecretOptions): Promise<void> {
  const api = await openApi(options)
  const cluster = await findCluster(api, options.cluster)
  const secrets = await listSecretsOf(api, cluster)
  const found = secrets.find((secret) => secret.key === key)
  if (found === undefined) {
    const keys = secrets.map((secret) => oneLine(secret.key)).join(', ') || 'none'
    throw new Refused(`The cluster ${oneLine(cluster.name)} has no secret ${key}, but ${keys}.`)
  }
  await api.delete(`clusters/${cluster.id}/secrets/${found.id}`)
  print(options, found, `Deleted the secret ${oneLine(key)} of the cluster ${oneLine(cluster.name)}.`)
}

const listSecretsOf = (api: Api, { id }: Cluster) => listAll(api.pages<Secret>(`clusters/${id}/secrets`))

/** One line feed at the end of standard input is left out: `echo` adds it. */
async function readValue(key: string): Promise<string> {
  const value = process.stdin.isTTY
    ? isInteractive()
      ? await askHidden(`Value of ${oneLine(key)} (it is not shown): `)
      : ''
    : (await readInput()).replace(/\r?\n$/, '')
  if (value.trim() === '') {
    throw new Refused(`The value is empty: pipe it in, as in: millrace secret set ${key} < file`)
  }
  return value
}

function readPolicy(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Refused(`${path} cannot be read (${errorCode(error)}).`)
  }
}
