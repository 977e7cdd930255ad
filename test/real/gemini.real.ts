import { tryCli } from './capabilities.ts';

tryCli('gemini');
