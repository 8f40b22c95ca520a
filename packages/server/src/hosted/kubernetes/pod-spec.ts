// A container of ours as the pod that it is on Kubernetes.
import type { V1Container, V1Pod, V1SecurityContext, V1Volume, V1VolumeMount } from '@kubernetes/client-node'
import type { Runner } from '../docker/runner-volume.ts'
import { runnerPath, type Container } from '../driver.ts'
import { labels, type Cluster } from './cluster.ts'

export interface PodSettings {
  /** Of type kubernetes.io/dockerconfigjson. */
  registrySecret: string | null
  /** A stronger sandbox, such as gVisor's; null: the cluster's default. */
  runtimeClass: string | null
  runner: Runner | null
}

/** Nothing of ours runs so long. It is for pods of an installation that is gone. */
const mostSeconds = 24 * 60 * 60

export const jobContainer = 'job'
const runnerContainer = 'runner'

export const podName = (id: string): string => `millrace-${id}`

export interface PodParts {
  image: string
  /** The registry decides anew whether the node may have it, though somebody else's pod has brought it there. */
  isAskedFor: boolean
  /** The claim of each mount, in their order. */
  claims: readonly string[]
  /** What the runner is copied out of; null: none is wanted, or the image has it. */
  runnerImage: string | null
}

export function describePod(
  cluster: Cluster,
  settings: PodSettings,
  container: Container,
  { image, isAskedFor, claims, runnerImage }: PodParts,
): V1Pod {
  const { id, clusterId, limits, mounts } = container
  const resources = { cpu: String(limits.cpus), memory: `${limits.memoryMb}Mi` }
  const common = { securityContext, resources: { limits: resources, requests: resources } }
  const volumes: V1Volume[] = claims.map((claimName, index) => ({
    name: `volume-${index}`,
    persistentVolumeClaim: { claimName },
  }))
  const volumeMounts: V1VolumeMount[] = mounts.map((mount, index) => ({
    name: `volume-${index}`,
    mountPath: mount.path,
    readOnly: mount.kind !== 'volume' && mount.readOnly,
  }))
  const { runner } = settings
  // A pod cannot ask for it, so the runner sees to it.
  const ownLimits = runner === null ? {} : { MILLRACE_RUNNER_PROCESSES: String(limits.processes) }
  const initContainers: V1Container[] = []
  if (runner !== null && runnerImage !== null) {
    volumes.push({ name: runnerContainer, emptyDir: {} })
    volumeMounts.push({ name: runnerContainer, mountPath: runnerPath, readOnly: true })
    initContainers.push({
      ...common,
      name: runnerContainer,
      image: runnerImage,
      command: [...runner.node, '-e', `fs.cpSync('${runnerPath}', '/to', { recursive: true })`],
      volumeMounts: [{ name: runnerContainer, mountPath: '/to' }],
    })
  }
  return {
    metadata: { name: podName(id), labels: labels(cluster, 'container', clusterId, id) },
    spec: {
      ...isolated,
      ...(settings.registrySecret === null ? {} : { imagePullSecrets: [{ name: settings.registrySecret }] }),
      ...(settings.runtimeClass === null ? {} : { runtimeClassName: settings.runtimeClass }),
      activeDeadlineSeconds: mostSeconds,
      terminationGracePeriodSeconds: 1,
      volumes,
      initContainers,
      containers: [
        {
          ...common,
          name: jobContainer,
          image,
          imagePullPolicy: isAskedFor ? 'Always' : 'IfNotPresent',
          command: container.command.map(literally),
          env: Object.entries({ ...container.environment, ...ownLimits }).map(([name, value]) => ({
            name,
            value: literally(value),
          })),
          volumeMounts,
        },
      ],
    },
  }
}

/** No account of the cluster, no addresses of its services, nothing of the node's. */
export const isolated = {
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  hostNetwork: false,
  hostPID: false,
  hostIPC: false,
} as const

/** Root in the container, as package managers need it, with what Docker grants but raw packets, devices and audit. */
export const securityContext: V1SecurityContext = {
  runAsUser: 0,
  privileged: false,
  allowPrivilegeEscalation: false,
  seccompProfile: { type: 'RuntimeDefault' },
  capabilities: {
    drop: ['ALL'],
    add: [
      'CHOWN',
      'DAC_OVERRIDE',
      'FOWNER',
      'FSETID',
      'KILL',
      'NET_BIND_SERVICE',
      'SETFCAP',
      'SETGID',
      'SETPCAP',
      'SETUID',
      'SYS_CHROOT',
    ],
  },
}

/** Kubernetes puts variables in where it finds `$(NAME)`; a doubled sign it takes for the sign. */
const literally = (text: string) => text.replaceAll('$', () => '$$')
