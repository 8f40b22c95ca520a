// The networks from which a token may be used, as CIDRs separated by spaces.

const any = '0.0.0.0/0 ::/0'

/** What a form shows: nothing where any address may. */
export const writtenNetworks = (networks: string): string => (networks === any ? '' : networks)

export const describeNetworks = (networks: string): string => writtenNetworks(networks) || 'Any address'
