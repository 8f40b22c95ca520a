import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'
import { agentImageQuery } from '../../api/resource-queries.ts'
import type { ClusterAddress } from '../cluster/queries.ts'

const images = '/v2/organizations/{org}/clusters/{cluster}/agent-images'

export type AgentImage = Answer<`GET ${typeof images}`>[number]
type NewImage = NonNullable<Operations[`POST ${typeof images}`]['body']>

export type ImageAddress = ClusterAddress & { image: string }

const whileBuildingMs = 2000
/** Somebody else may build one. */
const laterMs = 15_000

const isBuilding = (image: AgentImage | undefined) => image?.status === 'BUILDING'

export const imagesQuery = ({ org, cluster }: ClusterAddress) => ({
  ...query(`GET ${images}`, { params: { org, cluster } }),
  refetchInterval: ({ state }: { state: { data: AgentImage[] | undefined } }) =>
    state.data?.some(isBuilding) === true ? whileBuildingMs : laterMs,
})

export const imageQuery = (params: ImageAddress) => ({
  ...agentImageQuery(params),
  refetchInterval: ({ state }: { state: { data: AgentImage | undefined } }) =>
    isBuilding(state.data) ? whileBuildingMs : laterMs,
})

/** What the builder has said, which grows while the image is being built. */
export const imageLogQuery = (params: ImageAddress, isGrowing: boolean) => ({
  ...query(`GET ${images}/{image}/log`, { params }),
  refetchInterval: isGrowing ? whileBuildingMs : laterMs,
})

export const createImage = (params: ClusterAddress, body: NewImage, idempotencyKey: string) =>
  call(`POST ${images}`, { params, body, idempotencyKey })

export const deleteImage = (params: ImageAddress) => call(`DELETE ${images}/{image}`, { params })
