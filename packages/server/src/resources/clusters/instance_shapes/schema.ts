import { Type } from 'typebox'
import { integer, oneOf } from '../../schema.ts'
import { instanceShapes } from '../queues/schema.ts'

export const InstanceShape = Type.Object(
  {
    name: oneOf(instanceShapes, 'What `instanceShape` of a queue takes.'),
    machine_type: oneOf(['linux', 'macos'], 'Operating system of the machines.'),
    architecture: oneOf(['amd64', 'arm64'], 'Architecture of the machines.'),
    cpu: integer('Number of virtual CPUs.'),
    memory: integer('Gigabytes.'),
  },
  { title: 'InstanceShape' },
)
