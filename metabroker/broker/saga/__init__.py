from .saga import Saga

__all__ = ["Saga"]
