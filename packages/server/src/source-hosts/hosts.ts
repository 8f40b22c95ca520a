// All source hosts, by the type of a repository connection.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { badRequest } from '../lib/errors.ts'
import { azureDevOps } from './azure-devops/host.ts'
import { bitbucket } from './bitbucket/host.ts'
import { bitbucketServer } from './bitbucket-server/host.ts'
import { forgejo, gitea } from './gitea/host.ts'
import { github, githubApp, githubEnterpriseApp } from './github/host.ts'
import { gitlab } from './gitlab/host.ts'
import { gogs } from './gogs/host.ts'
import type { SourceHost } from './host.ts'
import { plain } from './plain/host.ts'

/**
 * A delivery is from the first host here that identifies it: Gitea and Forgejo send the headers of Gogs and GitHub too, both
 * kinds of Bitbucket have one header, and `git` accepts every request.
 */
export const hosts = {
  gitea,
  forgejo,
  gogs,
  gitlab,
  bitbucket_server: bitbucketServer,
  bitbucket,
  azure_devops: azureDevOps,
  github,
  github_app: githubApp,
  github_enterprise_app: githubEnterpriseApp,
  git: plain,
} as const satisfies Record<string, SourceHost>

export type HostType = keyof typeof hosts

/** Of connections through which comments can be made. */
export const typesWithComments: readonly string[] = Object.entries<SourceHost>(hosts)
  .filter(([, { comments }]) => comments !== null)
  .map(([type]) => type)

export const hostOfType = (type: HostType): SourceHost => hosts[type]

export interface Sender {
  host: HostType
  event: string
  /** The sender's id of the delivery; null: it has none, so a repetition cannot be recognized. */
  id: string | null
}

const longestId = 200
const longestEvent = 100

export function identify(headers: IncomingHttpHeaders, body: Buffer): Sender {
  for (const [host, { webhook }] of Object.entries(hosts) as [HostType, SourceHost][]) {
    const found = webhook.identify(headers, body)
    if (found === null) continue
    const { event, id } = found
    if (event.length > longestEvent) throw badRequest('The name of the event is too long.')
    // Cutting a long id could make two deliveries look the same.
    const isLong = id !== null && id.length > longestId
    return { host, event, id: isLong ? createHash('sha256').update(id).digest('hex') : id }
  }
  throw badRequest('The sender is not a source host.')
}
