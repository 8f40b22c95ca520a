// What the agent API's routes do not say: the schemas of their answers, their queries, and bodies that they accept.
import {
  HeartbeatResponse,
  PingResponse,
  RegisterResponse,
  TokenResponse,
} from '@millrace/protocol/agents.ts'
import { ArtifactBatchResponse, FoundArtifact } from '@millrace/protocol/artifacts.ts'
import {
  CacheCommitResponse,
  CachePeekResponse,
  CacheRegistryResponse,
  CacheRetrieveResponse,
  CacheStoreResponse,
} from '@millrace/protocol/caches.ts'
import { Job, JobStateResponse, JobUpdateResponse } from '@millrace/protocol/jobs.ts'
import {
  MetaDataExistsResponse,
  MetaDataGetResponse,
  MetaDataKeysResponse,
} from '@millrace/protocol/meta-data.ts'
import { OidcTokenResponse } from '@millrace/protocol/oidc.ts'
import { PipelineUploadStatusResponse } from '@millrace/protocol/pipelines.ts'
import {
  RepositoryAccessResponse,
  RepositoryTokenResponse,
  SecretResponse,
} from '@millrace/protocol/secrets.ts'
import {
  StepCacheRestoreResponse,
  StepCacheSaveResponse,
  StepCacheUploadsResponse,
} from '@millrace/protocol/step-caches.ts'
import { BuildCancelResponse, StepCancelResponse, StepExportResponse } from '@millrace/protocol/steps.ts'
import { TestResultsResponse } from '@millrace/protocol/test-results.ts'
import { Type, type TSchema } from 'typebox'
import { cacheEntry, stepCacheBlob } from '../world/states.ts'

interface AgentOperation {
  /** The body of a successful answer. */
  answer?: TSchema
  /** A valid value of each parameter, with markers as in bodies.ts. */
  query?: Readonly<Record<string, string>>
  examples?: readonly unknown[]
  /** It may send the client elsewhere. */
  redirects?: true
}

const lookup = { target_paths: cacheEntry.target_paths, cache_key: cacheEntry.cache_key }
const commitText = `commit ${'a'.repeat(40)}\nAuthor: Ada Example <ada@example.com>\n\n    Make it faster\n`
const dataKey = { examples: [{ key: 'present' }] }

export const agentOperations: Readonly<Record<string, AgentOperation>> = {
  'POST /v3/register': {
    answer: RegisterResponse,
    examples: [
      {
        name: 'fuzz-%hostname-%spawn-%random',
        hostname: 'ci',
        os: 'linux',
        arch: 'amd64',
        version: '3.137.0',
        priority: '5',
        meta_data: ['queue=default', 'docker=true'],
        pid: 7,
        features: [],
      },
    ],
  },
  'POST /v3/heartbeat': { answer: HeartbeatResponse, examples: [{ sent_at: '2026-01-02T03:04:05Z' }] },
  'POST /v3/stop': { examples: [{ force: false }] },
  'POST /v3/pause': { examples: [{ note: 'repairs', timeout_in_minutes: 5 }] },
  'GET /v3/token': { answer: TokenResponse },
  'GET /v3/ping': { answer: PingResponse },
  'POST /v3/jobs/{job}/test_results': { answer: TestResultsResponse, query: { path: 'report.xml' } },
  'POST /v3/jobs/{job}/annotations': {
    examples: [{ body: '**bold**', context: '$unique', style: 'info', append: false, priority: 3 }],
  },
  'POST /v3/jobs/{job}/artifacts': {
    answer: ArtifactBatchResponse,
    examples: [
      {
        id: '$uuid',
        artifacts: [
          { path: 'a/b.txt', absolute_path: '/b.txt', file_size: 3, sha1sum: 'a'.repeat(40), sha256sum: '' },
        ],
      },
    ],
  },
  'PUT /v3/jobs/{job}/artifacts': {
    examples: [{ artifacts: [{ id: '$artifact', state: 'error', multipart: false }] }],
  },
  'GET /v3/builds/{build}/artifacts/search': {
    answer: Type.Array(FoundArtifact),
    query: { query: '*', scope: 'turn', state: 'finished', include_retried_jobs: 'true' },
  },
  'GET /v3/cache_registries/{registry}': { answer: CacheRegistryResponse },
  'POST /v3/cache_registries/{registry}/peek': { answer: CachePeekResponse, examples: [lookup] },
  'POST /v3/cache_registries/{registry}/retrieve': { answer: CacheRetrieveResponse, examples: [lookup] },
  'PUT /v3/cache_registries/{registry}/store': { answer: CacheStoreResponse, examples: [cacheEntry] },
  'PUT /v3/cache_registries/{registry}/commit': {
    answer: CacheCommitResponse,
    examples: [{ upload_id: '$cache_upload' }],
  },
  'POST /v3/cache_registries/{registry}/expire': { examples: [lookup] },
  'POST /v3/jobs/{job}/cache/restore': {
    answer: StepCacheRestoreResponse,
    examples: [{ platform: 'linux-x64' }],
  },
  'POST /v3/jobs/{job}/cache/uploads': {
    answer: StepCacheUploadsResponse,
    examples: [{ blobs: [stepCacheBlob, { digest: 'd'.repeat(64), size: 7 }] }],
  },
  'PUT /v3/jobs/{job}/cache': {
    answer: StepCacheSaveResponse,
    examples: [{ platform: 'linux-x64', manifest: stepCacheBlob, blobs: [stepCacheBlob], file_count: 1 }],
  },
  'POST /v3/jobs/{job}/cache/damage': { examples: [{ digest: stepCacheBlob.digest }] },
  'PUT /v3/jobs/{job}/accept': { answer: Job, examples: [{}, { start: true }] },
  'PUT /v3/jobs/{job}/acquire': { answer: Job },
  'GET /v3/jobs/{job}': { answer: JobStateResponse },
  'PUT /v3/jobs/{job}/finish': {
    examples: [
      { exit_status: '0', chunks_failed_count: 0 },
      { exit_status: '-1', signal: 'SIGKILL', signal_reason: 'cancel' },
      { exit_status: '1', last_chunk: { sequence: 1, offset: 0, gzip: 'H4sIAAAAAAAAA0tMSgYAwkEkNQMAAAA=' } },
    ],
  },
  'PUT /v3/jobs/{job}': { answer: JobUpdateResponse, examples: [{ timeout: '30' }] },
  'PUT /v3/jobs/{job}/promise_failure': { examples: [{ exit_status: 3, reason: 'soon' }] },
  'POST /v3/jobs/{job}/chunks': { query: { sequence: '1', offset: '0', size: '12' } },
  'POST /v3/jobs/{job}/header_times': {
    examples: [{ header_times: { 0: '2026-01-02T03:04:05.678901234Z' } }],
  },
  'POST /v3/jobs/{job}/data/set': {
    examples: [
      { key: 'present', value: 'yes' },
      { key: 'buildkite:git:commit', value: commitText },
    ],
  },
  'POST /v3/jobs/{job}/data/set-batch': {
    examples: [
      {
        items: [
          { key: 'present', value: 'yes' },
          { key: '$unique', value: 'x' },
        ],
      },
    ],
  },
  'POST /v3/jobs/{job}/data/get': { answer: MetaDataGetResponse, ...dataKey },
  'POST /v3/builds/{build}/data/get': { answer: MetaDataGetResponse, ...dataKey },
  'POST /v3/jobs/{job}/data/exists': { answer: MetaDataExistsResponse, ...dataKey },
  'POST /v3/builds/{build}/data/exists': { answer: MetaDataExistsResponse, ...dataKey },
  'POST /v3/jobs/{job}/data/keys': { answer: MetaDataKeysResponse },
  'POST /v3/builds/{build}/data/keys': { answer: MetaDataKeysResponse },
  'GET /v3/metrics/queue': { query: { name: 'default' } },
  'POST /v3/jobs/{job}/oidc/tokens': {
    answer: OidcTokenResponse,
    examples: [{ audience: 'https://sts.example.com', lifetime: 60, claims: ['organization_id'] }],
  },
  'POST /v3/jobs/{job}/pipelines': {
    examples: [
      { uuid: '$uuid', pipeline: { steps: [{ command: 'more' }, 'wait', { block: 'x' }] } },
      { uuid: '$uuid', replace: true, pipeline: { steps: [{ command: 'instead', key: '$unique' }] } },
    ],
  },
  'GET /v3/jobs/{job}/pipelines/{upload}': { answer: PipelineUploadStatusResponse },
  'POST /v3/jobs/{job}/repository_access_token': {
    answer: RepositoryTokenResponse,
    examples: [{ repo_url: '$repository' }],
  },
  'POST /v3/jobs/{job}/github_code_access_token': {
    answer: RepositoryTokenResponse,
    examples: [{ repo_url: '$repository' }],
  },
  'POST /v3/jobs/{job}/github_workflow_access_token': {
    answer: RepositoryTokenResponse,
    examples: [{ repo_url: '$repository', workflow: 'ci.yml', permissions: { contents: 'read' } }],
  },
  'GET /v3/jobs/{job}/repository.git/info/refs': { query: { service: 'git-upload-pack' }, redirects: true },
  'GET /v3/jobs/{job}/repository_access': { answer: RepositoryAccessResponse },
  'GET /v3/jobs/{job}/secrets': { answer: SecretResponse, query: { key: '$secret_key' } },
  'POST /v3/stacks/register': {
    examples: [{ key: '$unique', type: 'kubernetes', queue_key: 'default', metadata: { a: 'b' } }],
  },
  'GET /v3/stacks/{stack}/scheduled-jobs': { query: { queue_key: 'default', limit: '10' } },
  'PUT /v3/stacks/{stack}/scheduled-jobs/batch-reserve': {
    examples: [{ job_uuids: ['$job'], reservation_expiry_seconds: 60 }],
  },
  'POST /v3/stacks/{stack}/jobs/get-states': { examples: [{ job_uuids: ['$job', '$scheduled_job'] }] },
  'POST /v3/stacks/{stack}/jobs/{job}/finish': { examples: [{ exit_status: -1, detail: 'no node' }] },
  'POST /v3/stacks/{stack}/notifications': {
    examples: [{ notifications: [{ job_uuid: '$scheduled_job', detail: 'pulling the image' }] }],
  },
  'POST /v3/steps/{step}/export': {
    answer: StepExportResponse,
    examples: [{ attribute: 'label' }, { format: 'json' }, {}],
  },
  'PUT /v3/steps/{step}': {
    examples: [{ idempotency_uuid: '$uuid', attribute: 'label', value: 'other', append: true }],
  },
  'POST /v3/steps/{step}/cancel': {
    answer: StepCancelResponse,
    examples: [{ force: true, force_grace_period: 5 }],
  },
  'POST /v3/builds/{build}/cancel': { answer: BuildCancelResponse },
}
