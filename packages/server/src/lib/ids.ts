import { createHash, randomBytes } from 'node:crypto'
import { v7 } from 'uuid'

/** Ordered by time, so that rows created together are close in every index. */
export const newId = (): string => v7()

type TokenPrefix =
  | 'mrt_'
  | 'mrct_'
  | 'mras_'
  | 'mrjt_'
  | 'mrst_'
  | 'mrws_'
  | 'mrsl_'
  | 'mriv_'
  | 'mroc_'
  | 'mrod_'
  | 'mror_'
  | 'mrps_'
  | 'mrtr_'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The prefix and 40 characters of 62: 238 bits. Bytes above the last multiple of 62 are skipped, so that all characters are equally likely. */
export function newToken(prefix: TokenPrefix): string {
  let random = ''
  while (random.length < 40) {
    for (const byte of randomBytes(64)) {
      if (byte < 248 && random.length < 40) random += alphabet[byte % 62]
    }
  }
  return prefix + random
}

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

type GraphqlType =
  | 'Agent'
  | 'AuditEvent'
  | 'Cluster'
  | 'ClusterQueue'
  | 'ClusterToken'
  | 'NotificationServiceOpenTelemetryTracing'
  | 'NotificationServiceSlack'
  | 'NotificationServiceWebhook'
  | 'Organization'
  | 'OrganizationBanner'
  | 'OrganizationInvitation'
  | 'Pipeline'
  | 'PipelineSchedule'
  | 'PipelineTemplate'
  | 'Rule'
  | 'Secret'
  | 'StepUpload'
  | 'Suite'
  | 'Team'
  | 'User'

export const graphqlId = (type: GraphqlType, id: string): string => btoa(`${type}---${id}`)

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => uuidPattern.test(text)
