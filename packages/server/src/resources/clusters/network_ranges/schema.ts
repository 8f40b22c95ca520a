import { Type } from 'typebox'

export const NetworkRange = Type.Object(
  { cidr_range: Type.String(), kind: Type.String() },
  { title: 'NetworkRange' },
)
