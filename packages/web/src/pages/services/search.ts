import { isDeliveryState, type DeliveryState } from './words.ts'

/** `provider`: the one that a new service is made of. */
export const readProviderSearch = ({ provider }: Record<string, unknown>): { provider?: string } =>
  typeof provider === 'string' && provider !== '' ? { provider } : {}

/** `state`: of the deliveries that are listed. */
export const readDeliverySearch = ({ state }: Record<string, unknown>): { state?: DeliveryState } =>
  isDeliveryState(state) ? { state } : {}
