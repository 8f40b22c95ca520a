import { Link, type LinkProps } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import { useWritesOff } from '../api/reachable.ts'
import { Icon } from './Icon.tsx'
import type { IconName } from './icon-names.ts'
import styles from './Button.module.css'

interface Look {
  kind?: 'plain' | 'primary' | 'quiet' | 'danger'
  icon?: IconName
  children?: ReactNode
}

type Props = Look &
  Omit<ComponentProps<'button'>, 'type'> & {
    type?: 'button' | 'submit'
    isBusy?: boolean
    /** It writes, or leads to something that does, so it is off while the server is away. */
    isWrite?: boolean
  }

export const Button = ({ isWrite = false, ...rest }: Props) =>
  isWrite ? <WriteButton {...rest} /> : <AnyButton {...rest} />

function WriteButton({ disabled, title, ...rest }: Omit<Props, 'isWrite'>) {
  const off = useWritesOff()
  return <AnyButton {...rest} disabled={disabled === true || off !== undefined} title={off ?? title} />
}

const AnyButton = ({
  kind = 'plain',
  icon,
  isBusy = false,
  children,
  className,
  type = 'button',
  ...rest
}: Omit<Props, 'isWrite'>) => (
  <button {...rest} type={type} className={classOf(kind, className)} aria-busy={isBusy || undefined}>
    {isBusy ? <Icon name="loader-circle" isTurning /> : icon !== undefined && <Icon name={icon} />}
    {children}
  </button>
)

/** A button with only an icon. */
export const IconButton = ({
  label,
  icon,
  className,
  ...rest
}: { label: string; icon: IconName } & Omit<ComponentProps<'button'>, 'type'>) => (
  <button
    {...rest}
    type="button"
    aria-label={label}
    title={label}
    className={`${styles.button} ${styles.icon} ${className ?? ''}`}
  >
    <Icon name={icon} />
  </button>
)

/** Looks like a button and leads to a page. */
export const LinkButton = ({ kind = 'plain', icon, children, ...rest }: Look & LinkProps) => (
  <Link {...rest} className={classOf(kind)}>
    {icon !== undefined && <Icon name={icon} />}
    {children}
  </Link>
)

/** Looks like a button and opens a page of the server, or of another site, in a tab of its own. */
export const ExternalLinkButton = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} target="_blank" rel="noopener" className={classOf('plain')}>
    {children}
  </a>
)

const classOf = (kind: NonNullable<Look['kind']>, more = '') =>
  `${styles.button} ${styles[kind]} ${more}`.trim()
