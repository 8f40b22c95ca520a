import { call, type Answer } from '../../api/call.ts'
import type { Schemas } from '../../api/operations.ts'
import { keyOf, listQuery, query, queryClient } from '../../api/queries.ts'

const services = '/v2/organizations/{org}/services'
const deliveries = `${services}/{service}/deliveries` as const

export interface ServiceAddress {
  org: string
  service: string
}

export type Service = Answer<`GET ${typeof services}/{service}`>
export type Provider = Schemas['NotificationProvider']
export type Setting = Provider['settings'][number]
export type Delivery = Schemas['NotificationDelivery']
export type WholeDelivery = Schemas['NotificationDeliveryWithAttempts']
export type Attempt = Schemas['NotificationAttempt']
export type CreateService = Schemas['CreateNotificationService']
export type ServiceChange = Schemas['UpdateNotificationService']

/** Lists ask again soon while something is on its way. */
const soonMs = 2000
const laterMs = 15_000

interface Pages<Row> {
  state: { data?: { pages: Array<{ rows: Row[] }> } | undefined }
}

const rowsOf = <Row>({ state }: Pages<Row>) => state.data?.pages.flatMap(({ rows }) => rows) ?? []

export const servicesQuery = (org: string) => ({
  ...listQuery(`GET ${services}`, {
    params: { org },
    query: { include_last_delivery: true, per_page: 100 },
  }),
  refetchInterval: (list: Pages<Service>) =>
    rowsOf(list).some(({ last_delivery: last }) => last?.state === 'pending') ? soonMs : laterMs,
})

/** They change with a release only. */
export const providersQuery = (org: string) => ({
  ...query(`GET ${services}/providers`, { params: { org } }),
  staleTime: 60 * 60_000,
})

export const createService = (org: string, body: CreateService, idempotencyKey: string) =>
  call(`POST ${services}`, { params: { org }, body, idempotencyKey })

export const updateService = (params: ServiceAddress, body: ServiceChange) =>
  call(`PATCH ${services}/{service}`, { params, body })

export const deleteService = (params: ServiceAddress) => call(`DELETE ${services}/{service}`, { params })

export const enableService = (params: ServiceAddress) => call(`PUT ${services}/{service}/enable`, { params })

export const disableService = (params: ServiceAddress) =>
  call(`PUT ${services}/{service}/disable`, { params })

export const sendTest = (params: ServiceAddress) => call(`POST ${services}/{service}/test`, { params })

/** Asks again soon while something is on its way. */
export const deliveriesQuery = (params: ServiceAddress, state: Delivery['state'] | undefined) => ({
  ...listQuery(`GET ${deliveries}`, {
    params,
    query: { per_page: 10, ...(state === undefined ? {} : { state }) },
  }),
  refetchInterval: (list: Pages<Delivery>) => (rowsOf(list).some(isOnItsWay) ? soonMs : laterMs),
})

export const deliveryQuery = (params: ServiceAddress & { delivery: string }) => ({
  ...query(`GET ${deliveries}/{delivery}`, { params }),
  refetchInterval: ({ state: { data } }: { state: { data?: Delivery | undefined } }) =>
    data !== undefined && isOnItsWay(data) ? soonMs : (false as const),
})

const isOnItsWay = ({ state }: Pick<Delivery, 'state'>) => state === 'pending'

export const redeliver = (params: ServiceAddress & { delivery: string }) =>
  call(`POST ${deliveries}/{delivery}/redeliver`, { params })

/** After a change: the list, the page, and what pages say of stopped services. */
export const reloadServices = () =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: keyOf(`GET ${services}`) }),
    queryClient.invalidateQueries({ queryKey: keyOf(`GET ${services}/{service}`) }),
    queryClient.invalidateQueries({ queryKey: keyOf(`GET ${deliveries}`) }),
    queryClient.invalidateQueries({ queryKey: keyOf(`GET ${deliveries}/{delivery}`) }),
  ])
