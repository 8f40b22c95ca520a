// The event bus of a cloud account, with AWS's own client for signatures and credentials. Its requests go through
// lib/outbound.ts.
import type { EventBridgeClientConfig, PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import type { Config } from '../../config/config.ts'
import { OutboundError } from '../../lib/outbound.ts'
import { DeliveryFailed, type CloudBus, type Send } from '../provider.ts'

const mostBytes = 256 * 1024

export function cloudBus({ endpoint, name, source }: Config['eventBus']): CloudBus {
  let credentials: EventBridgeClientConfig['credentials']
  return {
    async put(send, { region, account }, { detailType, detail, at, resources }) {
      if (Buffer.byteLength(detail) + detailType.length > mostBytes) {
        throw new DeliveryFailed('The event is larger than the 256 KB that a bus takes.', { isFinal: true })
      }
      // Loaded on first use, because it is large.
      const { EventBridgeClient, PutEventsCommand } = await import('@aws-sdk/client-eventbridge')
      // AWS's default chain finds the credentials (environment, files, roles). The clients of all regions share them.
      credentials ??= new EventBridgeClient({ region }).config.credentials
      const client = new EventBridgeClient({
        region,
        credentials,
        maxAttempts: 1,
        requestHandler: { handle: (request: SignedRequest) => handle(send, request) },
        ...(endpoint === null ? {} : { endpoint }),
      })
      const entry: PutEventsRequestEntry = {
        EventBusName: `arn:${partitionOf(region)}:events:${region}:${account}:event-bus/${name}`,
        Source: source,
        DetailType: detailType,
        Detail: detail,
        Time: new Date(at),
        Resources: resources,
      }
      const { Entries = [] } = await client
        .send(new PutEventsCommand({ Entries: [entry] }))
        .catch((error: unknown) => {
          throw explained(error)
        })
      const refused = Entries.find(({ ErrorCode }) => ErrorCode !== undefined)
      if (refused !== undefined) {
        throw new DeliveryFailed(
          `The bus refused the event: ${refused.ErrorCode} ${refused.ErrorMessage ?? ''}`.trim(),
        )
      }
    },
  }
}

function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn'
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
}

interface SignedRequest {
  protocol: string
  hostname: string
  port?: number
  path: string
  headers: Record<string, string>
  body?: unknown
}

async function handle(send: Send, request: SignedRequest) {
  const { protocol, hostname, port, path, headers, body } = request
  const { 'user-agent': _userAgent, ...signed } = headers
  const { status, ...answer } = await send({
    method: 'POST',
    url: `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`,
    headers: signed,
    secretHeaders: ['authorization', 'x-amz-security-token'],
    body: typeof body === 'string' ? body : body instanceof Uint8Array ? plain(body) : null,
  })
  return {
    response: { statusCode: status, headers: answer.headers, body: new Uint8Array(answer.body) },
  }
}

/** The client's body class throws when it is copied, so wrap the bytes. */
const plain = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new Uint8Array(buffer, byteOffset, byteLength)

function explained(error: unknown): Error {
  if (error instanceof OutboundError || error instanceof DeliveryFailed) return error
  if (!(error instanceof Error)) return new Error('The bus could not be asked.', { cause: error })
  if (error.name === 'CredentialsProviderError') {
    return new DeliveryFailed(
      'This installation has no credentials for the cloud. The operator can give it some, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    )
  }
  if (error.name === 'Unknown') {
    const { httpStatusCode: status } = (error as { $metadata?: { httpStatusCode?: number } }).$metadata ?? {}
    return new DeliveryFailed(`The bus answered ${status ?? 'nothing that it should'}, and did not say why.`)
  }
  return new DeliveryFailed(`The bus answered ${error.name}: ${error.message.slice(0, 500)}`)
}
