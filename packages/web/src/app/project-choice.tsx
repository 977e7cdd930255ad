import { createContext, useContext } from 'react';

/** The id of the project that lists are limited to; null shows all. */
export const ProjectChoice = createContext<string | null>(null);

export const useProject = () => useContext(ProjectChoice);

const name = 'pawl-project';

export function readProject(): string | null {
  return localStorage.getItem(name);
}

export function keepProject(project: string | null): void {
  if (project === null) localStorage.removeItem(name);
  else localStorage.setItem(name, project);
}
